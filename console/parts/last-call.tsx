import { useState } from "preact/hooks";

import { lastWrite } from "../service/recorded-calls.ts";
import { CopyAs } from "./copy-as.tsx";

/**
 * The last call of this screen that changed something, to copy. Calls of an earlier screen are not shown, except one to
 * `path`, which led here.
 */
export function LastCall({ path }: { path?: string }) {
  const [earlier] = useState(() => lastWrite.peek());
  const call = lastWrite.value;
  if (call === null || (call === earlier && call.path !== path)) return null;
  return (
    <section class="card stack" aria-label="Your last call">
      <p class="muted">
        Your last call:{" "}
        <code>
          {call.method} {call.path}
        </code>
      </p>
      <CopyAs call={call} />
    </section>
  );
}
