const TEXTS = { pending: "Pending", processing: "Processing", completed: "Completed", failed: "Failed" } as const;

/** The state of a request. */
export function StateBadge({ status }: { status: keyof typeof TEXTS }) {
  return <span class={`badge badge-${status}`}>{TEXTS[status]}</span>;
}

/** A short fact about a thing. */
export function Badge({ children, kind = "plain" }: { children: string; kind?: "plain" | "good" | "warning" | "bad" }) {
  return <span class={`badge badge-${kind}`}>{children}</span>;
}
