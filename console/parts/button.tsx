import type { ButtonHTMLAttributes } from "preact";

type Props = Omit<ButtonHTMLAttributes, "class" | "type"> & {
  kind?: "primary" | "danger" | "plain" | "small";
  type?: "button" | "submit";
  /** Shows that the call runs, and prevents a second click. */
  busy?: boolean;
};

export function Button({ kind = "plain", type = "button", busy = false, disabled, children, ...rest }: Props) {
  return (
    <button {...rest} type={type} class={`button button-${kind}`} disabled={disabled === true || busy} aria-busy={busy}>
      {children}
    </button>
  );
}
