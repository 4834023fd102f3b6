import { useEffect, useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { Prose } from "../parts/prose.tsx";
import { useData } from "../service/use-data.ts";
import { isAddress, readReceiver } from "./receivers.ts";

/** Milliseconds without a further letter after which what was typed is checked. */
const QUIET = 400;
const WHOLE_ADDRESS = /^0x[0-9a-f]{40}$/i;

interface Props {
  /** Of the token. */
  contract: string;
  typed: string;
}

/** The notes of fields that name a receiver. @param contract of the token */
export function receiverNotes(names: readonly string[], contract: string) {
  const note = (typed: string) => <ReceiverNote contract={contract} typed={typed} />;
  return Object.fromEntries(names.map((name) => [name, note]));
}

/** Says what the receiver is that somebody types, and warns when it does not accept the token. */
function ReceiverNote({ contract, typed }: Props) {
  const name = useQuiet(typed.trim());
  const isWhole = name !== "" && (!isAddress(name) || WHOLE_ADDRESS.test(name));
  const { data } = useData(
    async () => ({ name, receiver: isWhole ? await readReceiver(contract, name) : null }),
    [contract, name],
  );
  const receiver = data?.name === typed.trim() ? data.receiver : null;
  const isBad = receiver?.accepts === false;
  return (
    <div class={isBad ? "note note-warning" : "hint"} aria-live="polite">
      {receiver !== null && <Prose text={wordsOf(receiver)} />}
    </div>
  );
}

function wordsOf({ kind, user_identifier: user, delegate, message }: Shape<"CheckedReceiver">): string {
  if (message !== null) return message;
  switch (kind) {
    case "wallet":
      return user === null ? "A wallet of the app." : `The wallet of the user ${user}.`;
    case "new_user":
      return "The app has no user of this name yet.";
    case "contract":
      return "A contract that accepts the token.";
    case "delegated_account":
      return `An account with the delegate ${delegate ?? ""} (EIP-7702). It accepts the token.`;
    default:
      return "An account that is not a wallet of the app.";
  }
}

/** The text when nobody has changed it for a moment. */
function useQuiet(text: string): string {
  const [quiet, setQuiet] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuiet(text);
    }, QUIET);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return quiet;
}
