import { shortHex } from "../service/format.ts";
import { Button } from "./button.tsx";
import { sayProblem, toast } from "./toasts.tsx";

/** Copies a text and says so. Pages without TLS have no clipboard, except on localhost. */
export async function copyText(text: string, what: string): Promise<void> {
  // The types do not know that it is absent on pages without TLS.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) {
    throw new Error("The browser allows copying only on pages with https. Select the text and copy it yourself.");
  }
  await clipboard.writeText(text);
  toast(`Copied ${what}.`);
}

interface CopyProps {
  text: string;
  /** What is copied, such as "the address". */
  what: string;
}

export function CopyButton({ text, what }: CopyProps) {
  return (
    <Button
      kind="small"
      aria-label={`Copy ${what}`}
      onClick={() => {
        copyText(text, what).catch(sayProblem);
      }}
    >
      Copy
    </Button>
  );
}

/** A text in full, with a button to copy it. */
export function Copyable({ text, what }: CopyProps) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** An address or a hash: short to read, in full in the title and when copied. */
export function Address({ value, what = "the address", link }: { value: string; what?: string; link?: string | null }) {
  const short = <code title={value}>{shortHex(value)}</code>;
  return (
    <span class="address">
      {link === undefined || link === null ? (
        short
      ) : (
        <a href={link} {...(link.startsWith("#") ? {} : { rel: "noreferrer", target: "_blank" })}>
          {short}
        </a>
      )}
      <CopyButton text={value} what={what} />
    </span>
  );
}
