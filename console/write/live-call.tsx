import { useState } from "preact/hooks";

import { randomKey } from "../../client/rules/random-key.ts";
import { problemsOf, REQUIRED } from "../forms/model/check.ts";
import type { Field } from "../forms/model/fields.ts";
import type { Values } from "../forms/model/values.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copyable.tsx";
import { asCurl, asTypeScript } from "../service/copy-as.ts";
import { uploadsIn } from "../service/recorded-calls.ts";
import { LOCAL_CLI, SERVICE_URL } from "../service/session.ts";
import type { Body } from "./use-write.ts";

/** The call that a form makes. */
export interface CallTarget {
  method: "POST" | "PATCH";
  /** As in the OpenAPI document. */
  path: string;
  pathParams?: Record<string, unknown>;
}

interface Props {
  target: CallTarget;
  fields: readonly Field[];
  values: Values;
  bodyOf: (values: Values) => Body | string;
}

const LANGUAGES = [
  ["curl", asCurl],
  ["TypeScript", asTypeScript],
] as const;
/** Fields that take an address, and in this form also a user of the app. */
const RECEIVERS = ["to_address", "initial_owner"];

/** The call that the form would make now, as a command or as code. It changes with each letter that is typed. */
export function LiveCall(props: Props) {
  const [open, setOpen] = useState(false);
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number][0]>("curl");
  // One key for the form, so that the text does not change by itself.
  const [key] = useState(randomKey);
  const write = LANGUAGES.find(([name]) => name === language)?.[1] ?? asCurl;
  const body = open ? bodyNow(props) : "";
  const uploads = uploadsIn(JSON.stringify(body));
  const text = typeof body === "string" ? null : write({ ...props.target, body, uploads }, SERVICE_URL, LOCAL_CLI, key);
  return (
    <details class="live-call" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The same call in a program</summary>
      <div class="actions" role="group" aria-label="Language">
        {LANGUAGES.map(([name]) => (
          <Button key={name} kind="small" aria-pressed={name === language} onClick={() => setLanguage(name)}>
            {name}
          </Button>
        ))}
        {text !== null && <CopyButton text={text} what={`the call as ${language}`} />}
      </div>
      {text === null ? <p class="muted">{body}</p> : <pre tabIndex={0}>{text}</pre>}
    </details>
  );
}

/** A text says why there is no call now. */
function bodyNow({ fields, values, bodyOf }: Props): Body | string {
  const users = RECEIVERS.flatMap((name) => {
    const typed = values[name];
    return typeof typed === "string" && typed.trim() !== "" && !/^\s*0x/i.test(typed)
      ? [[name, typed.trim()] as const]
      : [];
  });
  // A program names the user as such. This form looks up the address.
  const checked = { ...values, ...Object.fromEntries(users.map(([name]) => [name, ""])) };
  if (problemsOf(fields, checked).some(({ message }) => message !== REQUIRED)) {
    return "Correct the fields above. Then the call is shown here.";
  }
  const body = bodyOf(checked);
  return typeof body === "string"
    ? body
    : { ...body, ...Object.fromEntries(users.map(([, user]) => ["to_user", user])) };
}
