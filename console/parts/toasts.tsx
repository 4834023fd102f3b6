import { signal } from "@preact/signals";

import { sentenceOf } from "./sentence.ts";

interface Toast {
  id: number;
  text: string;
  kind: "done" | "problem";
}

const SHOWN_MS = 6_000;
/** More would leave no room for anything else. */
const MOST = 3;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says what was done. It disappears by itself. */
export function toast(text: string, kind: Toast["kind"] = "done"): void {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, text, kind }].slice(-MOST);
  setTimeout(() => {
    dismiss(id);
  }, SHOWN_MS);
}

/** For a promise whose failure has no better place: `save().catch(sayProblem)`. */
export function sayProblem(error: unknown): void {
  toast(sentenceOf(error), "problem");
}

/** The place of the toasts, in the navigation, where they cover nothing. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <span>{text}</span>
          <button
            type="button"
            class="button button-quiet"
            aria-label="Dismiss"
            onClick={() => {
              dismiss(id);
            }}
          >
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
