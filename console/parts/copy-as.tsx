import { asCurl, asTypeScript } from "../service/copy-as.ts";
import type { RecordedCall } from "../service/recorded-calls.ts";
import { LOCAL_CLI, SERVICE_URL } from "../service/session.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copyable.tsx";
import { sayProblem } from "./toasts.tsx";

/** Buttons that copy a call as a command and as code. Without a call there is nothing to copy. */
export function CopyAs({ call }: { call: RecordedCall | null }) {
  if (call === null) return null;
  const offers = [
    ["Copy as curl", "the call as curl", asCurl],
    ["Copy as TypeScript", "the call as TypeScript", asTypeScript],
  ] as const;
  return (
    <div class="actions">
      {offers.map(([label, what, write]) => (
        <Button
          key={label}
          kind="small"
          onClick={() => {
            copyText(write(call, SERVICE_URL, LOCAL_CLI), what).catch(sayProblem);
          }}
        >
          {label}
        </Button>
      ))}
    </div>
  );
}
