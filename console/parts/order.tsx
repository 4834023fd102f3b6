import type { Order } from "../service/order.ts";

/** Chooses which rows of a listing come first. */
export function OrderChoice({ order, onChange }: { order: Order; onChange: (order: Order) => void }) {
  return (
    <label class="order">
      <span class="hidden">Order</span>
      <select value={order} onChange={({ currentTarget }) => onChange(currentTarget.value as Order)}>
        <option value="newest">Newest first</option>
        <option value="oldest">Oldest first</option>
      </select>
    </label>
  );
}
