import type { ComponentChildren } from "preact";

import { Button } from "./button.tsx";
import { Copyable } from "./copyable.tsx";

interface Props {
  title: string;
  text: string;
  /** The person has stored it. */
  onDone: () => void;
  children: ComponentChildren;
}

/** A secret that the service shows once. */
export function Secret({ title, text, onDone, children }: Props) {
  return (
    <section class="note note-warning" aria-label={title}>
      <h2>{title}</h2>
      <p>Copy it now: it is never shown again. {children}</p>
      <Copyable text={text} what="the secret" />
      <Button onClick={onDone}>I have stored it</Button>
    </section>
  );
}
