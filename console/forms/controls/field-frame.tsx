import type { ComponentChildren } from "preact";

import { Prose } from "../../parts/prose.tsx";
import type { Field } from "../model/fields.ts";

interface FrameProps {
  /** Id of the control. Its help and its errors get ids made of it. */
  id: string;
  field: Pick<Field, "label" | "help" | "required">;
  errors: readonly string[];
  /** A sentence of the screen, in place of the schema's description. */
  help?: string | undefined;
  children: ComponentChildren;
}

/** Label, control, help and errors of a field. */
export function FieldFrame({ id, field, errors, help, children }: FrameProps) {
  const words = help ?? field.help;
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {!field.required && <span class="optional">optional</span>}
      </label>
      {children}
      {words !== null && (
        <p class="hint" id={`${id}-help`}>
          <Prose text={words} />
        </p>
      )}
      <FieldErrors id={id} errors={errors} />
    </div>
  );
}

export function FieldErrors({ id, errors }: { id: string; errors: readonly string[] }) {
  return (
    <div class="form-errors" id={`${id}-errors`} aria-live="polite">
      {errors.map((error) => (
        <p key={error}>{error}</p>
      ))}
    </div>
  );
}

/** What connects a control with the words around it. */
export function describedBy(id: string, hasHelp: boolean, errors: readonly string[]) {
  const ids = [...(hasHelp ? [`${id}-help`] : []), ...(errors.length > 0 ? [`${id}-errors`] : [])];
  return {
    id,
    "aria-invalid": errors.length > 0,
    ...(ids.length > 0 && { "aria-describedby": ids.join(" ") }),
  };
}
