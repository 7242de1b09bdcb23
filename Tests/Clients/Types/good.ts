import { open } from "fieldmerge";
import type { Customer, Order } from "./orders.js";

/** Uses of the types that must compile. */
export async function use() {
  const store = await open({ server: "http://gateway.test", user: "anna" });
  const orders = store.of<Order>("orders"), order = await orders.record(7);
  if (!order) return null;
  const title: string = order.order.title, until: string | null = order.order.until;
  await orders.edit(7, (edit) => {
    edit.order.title = "Stools";
    edit.order.status = "open";
    edit.order.total = "12.50";
    edit.order.until = "2026-11-20T10:00:00";
    edit.order.from = null;
    edit.order.customer = "tmp:0";
    edit.order.extra = { a: [1, null] };
    edit.order["post-code"] = "CT1";
    edit.lines.push({ name: "Rice" });
    edit.lines.splice(0, 1, { name: "Tea", quantity: "1.5" });
    edit.lines[0].quantity = "2";
    edit.lines = [{ name: "Salt" }];
    edit.import.push({ id: ["a", 5] });
    edit.card = { number: "5" };
  }, { base: order });
  const found = await orders.query({
    where: { "order.status": ["open"], "lines.name": { startsWith: "R" }, "order.flags": "x", "order.from": { before: "2026-12-01" } },
    sort: ["-order.title", "id"], limit: 5,
  });
  const live = orders.live({ where: { "order.small": 5, id: [1, 2] } });
  live.subscribe((value) => value?.[0].lines[0].name);
  const customers = await orders.query<{ buyer: Customer }>({ follow: { buyer: "order.customer" }, limit: 5 });
  const buyer: string | undefined = customers.followed?.[0].buyer?.customer.name;
  orders.live<{ buyer: Customer }>({ follow: { buyer: "order.customer" } }).subscribe((value) => value?.followed?.[0].buyer?.id);
  const any: number = (await orders.query({ follow: { buyer: "order.customer" } })).followed?.[0].buyer.customer.count;
  const form = await orders.form();
  form.record.order.title = "Stools";
  await orders.create((made) => {
    made.order.title = "Stools";
    made.lines.push({ name: "Rice", quantity: "5" });
  });
  const plain = await store.of("orders").record(7);
  return [title, until, buyer, any, found.next, order.order.modified?.length, plain.order.title];
}
