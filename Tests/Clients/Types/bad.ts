import { open } from "fieldmerge";
import type { Customer, Order } from "./orders.js";

/** Uses that must not compile: the compiler reports each of these comments that has no error behind it. */
export async function misuse() {
  const store = await open({ server: "http://gateway.test", user: "anna" }), orders = store.of<Order>("orders");
  await orders.edit(7, (edit) => {
    // @ts-expect-error a number is no text
    edit.order.title = 5;
    // @ts-expect-error the column cannot be null
    edit.order.title = null;
    // @ts-expect-error the field is read-only
    edit.order.modified = "2026-11-20T10:00:00Z";
    // @ts-expect-error this client may not write the field
    edit.order.secret = "x";
    // @ts-expect-error a lookup is read-only
    edit.order.customerName = "Joe";
    // @ts-expect-error the id is read-only
    edit.id = 8;
    // @ts-expect-error no time
    edit.order.until = "yesterday";
    // @ts-expect-error a day is no time
    edit.order.until = "2026-11-20";
    // @ts-expect-error no member
    edit.order.status = "shut";
    // @ts-expect-error no member of the set
    edit.order.flags = ["z"];
    // @ts-expect-error a number is not exact
    edit.order.total = 12.5;
    // @ts-expect-error no field
    edit.order.nothing = 5;
    // @ts-expect-error no section
    edit.nothing = 5;
    // @ts-expect-error a new line needs its name
    edit.lines.push({ quantity: "5" });
    // @ts-expect-error the database does not number these items
    edit.import.push({ x: 5 });
  });
  const order = await orders.record(7);
  // @ts-expect-error a record that was read is read-only
  order!.order.title = "Stools";
  // @ts-expect-error the record may be missing
  order.order.title.trim();
  // @ts-expect-error the time may be missing
  const modified: string = order!.order.modified;
  // @ts-expect-error the type of another resource
  store.of<Order>("customers");
  // @ts-expect-error no field
  await orders.query({ where: { "order.nothing": 5 } });
  // @ts-expect-error no member
  await orders.query({ where: { "order.status": "shut" } });
  // @ts-expect-error no field
  await orders.query({ sort: ["-order.nothing"] });
  return modified;
  // @ts-expect-error no path of a reference
  await orders.query({ follow: { buyer: "order.custmer" } });
  const { followed } = await orders.query<{ buyer: Customer }>({ follow: { buyer: "order.customer" } });
  // @ts-expect-error the record may be missing
  followed?.[0].buyer.customer.name;
  // @ts-expect-error no field
  followed?.[0].buyer?.customer.nothing;
}
