/**
 * The form of a customer: its parts, their groups, their fields. A group is what the shop's rules merge as a whole; its
 * names are those of MergeRules/shoppers.yaml.
 */
const one = (name, label, more = {}) => ({ name, label, fields: [{ name, label, kind: "text", ...more }] });

export const parts = [
  {
    title: "Name and address",
    groups: [one("firstName", "First name", { required: true }), one("lastName", "Last name", { required: true }), {
      name: "address", label: "Address",
      fields: [
        { name: "street", label: "Street", kind: "text", required: true },
        { name: "county", label: "County", kind: "text" },
        { name: "postCode", label: "Post code", kind: "text", required: true },
      ],
    }],
  },
  {
    title: "How to reach",
    groups: [
      one("phone", "Telephone", { kind: "tel", isNullable: true }), one("email", "E-mail", { kind: "email", isNullable: true }),
      one("newsletter", "Wants the newsletter", { kind: "check" }),
    ],
  },
  {
    title: "Account",
    groups: [
      one("tier", "Loyalty", { kind: "choice", choices: ["none", "bronze", "silver", "gold"] }),
      one("creditLimit", "Credit limit", { kind: "money", hint: "The office has the last word." }),
      one("balance", "Balance", { kind: "money", hint: "What several people book adds up." }),
      one("birthday", "Birthday", { kind: "date", isNullable: true }),
    ],
  },
  {
    title: "To remember",
    groups: [
      one("tags", "Labels", { kind: "labels", hint: "With commas between them." }),
      one("notes", "Notes", { kind: "lines", hint: "Edits of several people are joined word by word." }),
    ],
  },
];

const itemFields = [{ name: "name", label: "What", kind: "text", required: true }, { name: "quantity", label: "How much", kind: "text" }];
const itemGroups = [
  { name: "item", label: "Grocery", fields: itemFields },
  { name: "aisle", label: "Aisle", fields: [{ name: "aisle", label: "Aisle", kind: "aisle" }] },
];

const customerGroups = parts.flatMap((part) => part.groups);

/** A group of a section; undefined for what the form does not show. */
export const groupOf = (section, name) => (section === "customer" ? customerGroups : itemGroups).find((group) => group.name === name);

/** The value of a group as a record has it: bare where the group has one field. */
export function valueOf(group, row) {
  if (!row) return null;
  if (group.fields.length === 1) return row[group.fields[0].name] ?? null;
  return Object.fromEntries(group.fields.map(({ name }) => [name, row[name] ?? null]));
}

/** Tells whether two values are the same, whatever the order of members. */
export function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  const names = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && names.length === Object.keys(other).length
    && names.every((name) => same(one[name], other[name]));
}

/** A value as people read it. */
export function shown(kind, value, aisles) {
  if (value === null || value === undefined || value === "") return "nothing";
  if (kind === "check") return value ? "yes" : "no";
  if (kind === "money") return Number(value) < 0 ? `−£${String(value).slice(1)}` : `£${value}`;
  if (kind === "labels") return value.length ? value.join(", ") : "nothing";
  if (kind === "aisle") return aisles?.get(value) ?? `aisle ${value}`;
  return String(value);
}

/** A value of a group, or of a whole row, as people read it; several fields in their order. */
export function told(section, name, value, aisles) {
  if (value === null || value === undefined) return name ? "nothing" : "not there";
  const group = groupOf(section, name);
  if (group?.fields.length === 1) return shown(group.fields[0].kind, value, aisles);
  if (typeof value !== "object") return String(value);
  const fields = group?.fields ?? (section === "customer" ? customerGroups : itemGroups).flatMap(({ fields }) => fields);
  const known = fields.filter(({ name }) => value[name] !== undefined && value[name] !== null && value[name] !== "");
  return known.map(({ name, kind }) => shown(kind, value[name], aisles)).join(", ") || "nothing";
}

/** How the form calls a group; a whole row where there is no name. */
export function called(section, name) {
  if (!name) return section === "customer" ? "customer" : "grocery";
  const label = groupOf(section, name)?.label ?? name;
  return label[0].toLowerCase() + label.slice(1);
}

export const fullName = (record) => [record?.customer?.firstName, record?.customer?.lastName].filter(Boolean).join(" ") || "a customer";
