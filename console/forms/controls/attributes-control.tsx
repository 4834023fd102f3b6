import type { AttributesField } from "../model/fields.ts";
import type { AttributeRow } from "../model/values.ts";
import { FieldErrors } from "./field-frame.tsx";

interface AttributesProps {
  id: string;
  field: AttributesField;
  rows: readonly AttributeRow[];
  /** By the path of the field: `attributes.0.value`. */
  errorsOf: (path: string) => readonly string[];
  path: string;
  onChange: (rows: AttributeRow[]) => void;
}

/** A list of traits with their values. */
export function AttributesControl({ id, field, rows, errorsOf, path, onChange }: AttributesProps) {
  const full = field.maxItems !== null && rows.length >= field.maxItems;
  return (
    <fieldset class="form-attributes" id={id} tabIndex={-1} aria-describedby={`${id}-help`}>
      <legend>
        {field.label} <span class="optional">optional</span>
      </legend>
      <p class="hint" id={`${id}-help`}>
        Marketplaces show these as traits, such as “fur: red”.
      </p>
      {rows.map((row, index) => (
        <AttributeLine
          key={index}
          id={`${id}.${index.toString()}`}
          number={index + 1}
          row={row}
          errors={["trait_type", "value"].flatMap((part) => errorsOf(`${path}.${index.toString()}.${part}`))}
          onChange={(changed) => onChange(rows.map((one, place) => (place === index ? changed : one)))}
          onRemove={() => onChange(rows.filter((_, place) => place !== index))}
        />
      ))}
      <FieldErrors id={id} errors={errorsOf(path)} />
      <button
        type="button"
        class="button"
        disabled={full}
        onClick={() => onChange([...rows, { trait: "", value: "", before: null }])}
      >
        Add an attribute
      </button>
    </fieldset>
  );
}

interface LineProps {
  id: string;
  number: number;
  row: AttributeRow;
  errors: readonly string[];
  onChange: (row: AttributeRow) => void;
  onRemove: () => void;
}

function AttributeLine({ id, number, row, errors, onChange, onRemove }: LineProps) {
  const which = `of attribute ${number.toString()}`;
  const wrong = errors.length > 0 ? { "aria-invalid": true, "aria-describedby": `${id}-errors` } : {};
  return (
    <div class="form-attribute">
      <input
        id={`${id}.trait_type`}
        aria-label={`Trait ${which}`}
        placeholder="Trait"
        value={row.trait}
        onInput={({ currentTarget }) => onChange({ ...row, trait: currentTarget.value })}
      />
      <input
        id={`${id}.value`}
        aria-label={`Value ${which}`}
        placeholder="Value"
        value={row.value}
        onInput={({ currentTarget }) => onChange({ ...row, value: currentTarget.value })}
        {...wrong}
      />
      <button type="button" class="button" aria-label={`Remove attribute ${number.toString()}`} onClick={onRemove}>
        Remove
      </button>
      <FieldErrors id={id} errors={errors} />
    </div>
  );
}
