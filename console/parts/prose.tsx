/** A text of the service, in which backticks mark code. Nothing else in it is special. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}
