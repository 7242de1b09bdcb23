/** The form of a customer: its parts, their groups and fields. The names are those of MergeRules/shoppers.yaml. */
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
    title: "Contact",
    groups: [
      one("phone", "Telephone", { kind: "tel" }), one("email", "E-mail", { kind: "email" }),
      one("newsletter", "Wants the newsletter", { kind: "check" }),
    ],
  },
  {
    title: "Account",
    groups: [
      one("tier", "Loyalty", { kind: "choice", choices: ["none", "bronze", "silver", "gold"] }),
      one("creditLimit", "Credit limit", { kind: "money", hint: "If the office changes it too, the office's value counts." }),
      one("balance", "Balance", { kind: "money", hint: "Changes by several people are added up." }),
      one("birthday", "Birthday", { kind: "date" }),
    ],
  },
  {
    title: "Labels and notes",
    groups: [
      one("tags", "Labels", { kind: "labels", hint: "Separate labels with commas." }),
      one("notes", "Notes", { kind: "lines", hint: "Changes by several people are combined word by word." }),
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

/** Whether two values are equal, whatever the order of members. */
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
  if (kind === "money") return `${Number(value) < 0 ? "−" : ""}£${Math.abs(Number(value)).toFixed(2)}`;
  if (kind === "labels") return value.length ? value.join(", ") : "nothing";
  if (kind === "aisle") return aisles?.get(value) ?? `aisle ${value}`;
  return String(value);
}

/** A value of a group, or of a whole row, as people read it; several fields in their order. */
export function told(section, name, value, aisles) {
  if (value === null || value === undefined) return name ? "nothing" : "no longer there";
  const group = groupOf(section, name);
  if (group?.fields.length === 1) return shown(group.fields[0].kind, value, aisles);
  if (typeof value !== "object") return String(value);
  const fields = group?.fields ?? (section === "customer" ? customerGroups : itemGroups).flatMap(({ fields }) => fields);
  const known = fields.filter(({ name }) => value[name] !== undefined && value[name] !== null && value[name] !== "");
  return known.map(({ name, kind }) => shown(kind, value[name], aisles)).join(", ") || "nothing";
}

/** The name of a group in a sentence; of a whole row without a group. */
export function called(section, name) {
  if (!name) return section === "customer" ? "customer" : "grocery";
  const label = groupOf(section, name)?.label ?? name;
  return label[0].toLowerCase() + label.slice(1);
}

export const fullName = (record) => [record?.customer?.firstName, record?.customer?.lastName].filter(Boolean).join(" ") || "a customer";

/** The name as the list shows and sorts it. */
export const listName = ({ customer: { firstName, lastName } }) => [lastName, firstName].filter(Boolean).join(", ") || "No name";
