import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Control {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

interface Props {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with the value, as a sentence. */
  error?: string | null | undefined;
  required?: boolean;
  /** Renders the control with the attributes that connect it to its texts: `{(control) => <input {...control} />}`. */
  children: (control: Control) => ComponentChildren;
}

/** A control with its label, a hint and its error. */
export function Field({ label, hint, error, required = false, children }: Props) {
  const id = useId();
  const hasError = error !== undefined && error !== null;
  const described = [hint === undefined ? "" : `${id}-hint`, hasError ? `${id}-error` : ""].filter((one) => one !== "");
  return (
    <div class="field">
      <label for={id}>
        {label}
        {required && <span class="muted"> (required)</span>}
      </label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": hasError,
      })}
      {hasError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
