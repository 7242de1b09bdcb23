// Written by “fieldmerge types --language typescript”. Do not edit.
import type { EditableList, NewRow, Timestamp, TypedRecord } from "fieldmerge";

/** A record of “shoppers” */
export interface Shopper extends TypedRecord<"shoppers"> {
  readonly id: number | string;
  customer: ShopperCustomer;
  get groceries(): EditableList<ShopperGrocery, NewRow<ShopperGrocery>>;
  set groceries(items: readonly (ShopperGrocery | NewRow<ShopperGrocery>)[]);
  card: ShopperCard | null;
}

export interface ShopperCustomer {
  firstName: string;
  lastName: string | null;
  street: string | null;
  county: string | null;
  postCode: string | null;
  points: number | string;
  status: string | null;
  tags: string[] | null;
  readonly modified?: Timestamp | null;
}

export interface ShopperGrocery {
  readonly id: number | string;
  name: string;
  quantity: string | null;
  aisle: number | string | null;
}

export interface ShopperCard {
  number: string | null;
}

/** A record of “aisles” */
export interface Aisle extends TypedRecord<"aisles"> {
  readonly id: number | string;
  aisle: AisleAisle;
}

export interface AisleAisle {
  name: string;
}

/** A record of “orders” */
export interface Order extends TypedRecord<"orders"> {
  readonly id: string;
  order: OrderOrder;
}

export interface OrderOrder {
  note: string | null;
  customer: number | string | null;
}
