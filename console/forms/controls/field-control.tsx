import type { ComponentChildren } from "preact";

import { Prose } from "../../parts/prose.tsx";
import type { BooleanField, ChoiceField, Field, NumberField, TextField } from "../model/fields.ts";
import type { AttributeRow, Value, Values } from "../model/values.ts";
import { AttributesControl } from "./attributes-control.tsx";
import { describedBy, FieldErrors, FieldFrame } from "./field-frame.tsx";
import { PictureControl } from "./picture-control.tsx";

/** Fields of pictures, videos and sounds, in every form. */
const FILES = ["image", "animation_url"];

/** What all fields of a form share. */
export interface FormContext {
  /** Begins the ids of the controls. */
  form: string;
  errorsOf: (path: string) => readonly string[];
  /** Shows a chosen file in the preview, before it is uploaded. */
  onPicture?: ((name: string, file: File | null) => void) | undefined;
  /** A sentence of the screen in place of the schema's description, by name. */
  help: Readonly<Record<string, string>>;
  /** Id of a `datalist` with the app's wallets, by name. */
  lists: Readonly<Record<string, string>>;
  /** What is known about a typed value, by name. */
  notes: Readonly<Record<string, (typed: string) => ComponentChildren>>;
}

interface ControlProps<F extends Field> {
  field: F;
  path: string;
  value: Value;
  context: FormContext;
  onChange: (value: Value) => void;
}

/** The control of one field of the API. */
export function FieldControl({ field, path, value, context, onChange }: ControlProps<Field>) {
  const shared = { path, value, context, onChange };
  const id = `${context.form}-${path}`;
  switch (field.kind) {
    case "boolean":
      return <BooleanControl field={field} {...shared} />;
    case "choice":
      return <ChoiceControl field={field} {...shared} />;
    case "choices":
      return <ChoicesControl field={field} {...shared} />;
    case "attributes":
      return (
        <AttributesControl
          id={id}
          field={field}
          rows={value as AttributeRow[]}
          errorsOf={context.errorsOf}
          path={path}
          onChange={onChange}
        />
      );
    case "group":
      return <GroupControl field={field} {...shared} />;
    case "uri":
      if (FILES.includes(field.name)) return <PictureControl field={field} {...shared} value={value as string} />;
      return <TextControl field={field} {...shared} />;
    default:
      return <TextControl field={field} {...shared} />;
  }
}

type OneLine = TextField | NumberField | Extract<Field, { kind: "json" }>;

function TextControl({ field, path, value, context, onChange }: ControlProps<OneLine>) {
  const id = `${context.form}-${path}`;
  const errors = context.errorsOf(path);
  const help = context.help[field.name];
  const list = context.lists[field.name];
  const common = {
    ...describedBy(id, (help ?? field.help) !== null, errors),
    value: value as string,
    required: field.required,
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  const several = field.kind === "long-text" || field.kind === "json";
  const numeric =
    field.kind === "integer"
      ? { inputMode: "numeric" as const }
      : field.kind === "percent"
        ? { inputMode: "decimal" as const }
        : {};
  return (
    <FieldFrame id={id} field={field} errors={errors} help={help}>
      {several ? (
        <textarea rows={3} {...common} />
      ) : (
        <input
          type="text"
          autocomplete="off"
          spellcheck={field.kind === "text"}
          class={field.kind === "address" ? "mono" : undefined}
          {...numeric}
          {...(list !== undefined && { list })}
          {...common}
        />
      )}
      {errors.length === 0 && context.notes[field.name]?.(value as string)}
    </FieldFrame>
  );
}

function BooleanControl({ field, path, value, context, onChange }: ControlProps<BooleanField>) {
  const id = `${context.form}-${path}`;
  const errors = context.errorsOf(path);
  const help = context.help[field.name] ?? field.help;
  return (
    <div class="field field-check">
      <input
        type="checkbox"
        {...describedBy(id, help !== null, errors)}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <label for={id}>{field.label}</label>
      {help !== null && (
        <p class="hint" id={`${id}-help`}>
          <Prose text={help} />
        </p>
      )}
      <FieldErrors id={id} errors={errors} />
    </div>
  );
}

function ChoiceControl({ field, path, value, context, onChange }: ControlProps<ChoiceField>) {
  const id = `${context.form}-${path}`;
  const errors = context.errorsOf(path);
  const help = context.help[field.name];
  return (
    <FieldFrame id={id} field={field} errors={errors} help={help}>
      <select
        {...describedBy(id, (help ?? field.help) !== null, errors)}
        value={value as string}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {!field.required && <option value="">–</option>}
        {field.options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

function ChoicesControl({ field, path, value, context, onChange }: ControlProps<ChoiceField>) {
  const id = `${context.form}-${path}`;
  const chosen = value as string[];
  const help = context.help[field.name] ?? field.help;
  const change = (option: string, checked: boolean) =>
    onChange(field.options.filter((one) => (one === option ? checked : chosen.includes(one))));
  return (
    <fieldset class="form-choices" id={id} tabIndex={-1}>
      <legend>{field.label}</legend>
      {help !== null && (
        <p class="hint">
          <Prose text={help} />
        </p>
      )}
      {field.options.map((option) => (
        <label key={option} class="form-check">
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={({ currentTarget }) => change(option, currentTarget.checked)}
          />
          {option}
        </label>
      ))}
      <FieldErrors id={id} errors={context.errorsOf(path)} />
    </fieldset>
  );
}

function GroupControl({ field, path, value, context, onChange }: ControlProps<Extract<Field, { kind: "group" }>>) {
  const values = value as Values;
  return (
    <fieldset class="form-group" id={`${context.form}-${path}`} tabIndex={-1}>
      <legend>{field.label}</legend>
      {field.fields.map((inner) => (
        <FieldControl
          key={inner.name}
          field={inner}
          path={`${path}.${inner.name}`}
          value={values[inner.name] ?? ""}
          context={context}
          onChange={(changed) => onChange({ ...values, [inner.name]: changed })}
        />
      ))}
    </fieldset>
  );
}
