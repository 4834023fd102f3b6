import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { FieldControl } from "../forms/controls/field-control.tsx";
import type { Field } from "../forms/model/fields.ts";
import type { Values } from "../forms/model/values.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { type CallTarget, LiveCall } from "./live-call.tsx";
import type { WriteState } from "./use-write.ts";
import { useWriteForm, type WriteFormOptions, type WriteFormState } from "./use-write-form.ts";

/** Chosen files by the name of their field. */
type Pictures = Readonly<Record<string, File>>;

interface WriteFormProps<T> extends WriteFormOptions<T> {
  /** Names of optional fields that are shown at once. The other ones are under "More fields". */
  main: readonly string[];
  /** The call of the form, for programs. */
  target: CallTarget;
  /** Text of the button, and while the call runs. */
  submit: string;
  busy: string;
  /** What is asked before the call is sent, if it cannot be undone. The button is then a dangerous one. */
  confirm?: { title: string; text: string };
  /** Sentences of the screen in place of the schema's descriptions, by name. */
  help?: Readonly<Record<string, string>>;
  /** Ids of lists with suggestions, by name. */
  lists?: Readonly<Record<string, string>>;
  /** What is known about a typed value, under its field, by name. */
  notes?: Readonly<Record<string, (typed: string) => ComponentChildren>>;
  /** Above the fields. */
  children?: ComponentChildren;
  /** Beside the fields. */
  preview?: (values: Values, pictures: Pictures) => ComponentChildren;
  /** After the service has taken the call. @param again shows the form again, for another call */
  done: (taken: Extract<WriteState<T>, { is: "taken" }>, again: () => void) => ComponentChildren;
}

/** A form that writes: checks, sends once, shows each error at its field, then what became of the call. */
export function WriteForm<T>(props: WriteFormProps<T>) {
  const { preview, done, confirm } = props;
  const form = useWriteForm(props);
  const [asking, setAsking] = useState(false);
  const [pictures, setPictures] = useState<Pictures>({});
  const { state } = form.write;
  if (state.is === "taken") return <>{done(state, form.again)}</>;
  return (
    <div class={preview === undefined ? "form-page" : "form-page form-page-preview"}>
      <form
        noValidate
        aria-busy={form.busy}
        onSubmit={(event) => {
          event.preventDefault();
          if (confirm === undefined) form.submit();
          else form.check(() => setAsking(true));
        }}
      >
        {props.children}
        <Others id={`${form.id}-others`} messages={form.problems.others} />
        <fieldset class="form-fields" disabled={state.is === "sending" || state.is === "unknown"}>
          <Fields
            form={form}
            options={props}
            onPicture={(name, file) => {
              setPictures((now) => withPicture(now, name, file));
            }}
          />
        </fieldset>
        {state.is === "unknown" ? (
          <NotKnown message={state.message} onAgain={form.retry} onEdit={form.again} />
        ) : (
          <button
            type="submit"
            class={`button ${confirm === undefined ? "button-primary" : "button-danger"}`}
            aria-disabled={form.busy}
          >
            {form.busy ? props.busy : props.submit}
          </button>
        )}
        <LiveCall target={props.target} fields={props.fields} values={form.values} bodyOf={props.bodyOf} />
      </form>
      {asking && confirm !== undefined && (
        <Confirmation
          {...confirm}
          action={props.submit}
          onConfirm={form.submit}
          onClose={() => {
            setAsking(false);
          }}
        />
      )}
      {preview !== undefined && <aside aria-label="Preview">{preview(form.values, pictures)}</aside>}
    </div>
  );
}

interface ConfirmationProps {
  title: string;
  text: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

function Confirmation({ text, onConfirm, ...dialog }: ConfirmationProps) {
  return (
    <ConfirmDialog
      {...dialog}
      onConfirm={() => {
        onConfirm();
        return Promise.resolve();
      }}
    >
      <p>{text}</p>
    </ConfirmDialog>
  );
}

interface FieldsProps<T> {
  form: WriteFormState<T>;
  options: WriteFormProps<T>;
  onPicture: (name: string, file: File | null) => void;
}

function Fields<T>({ form, options, onPicture }: FieldsProps<T>) {
  const { fields, main, help = {}, lists = {}, notes = {} } = options;
  const { byField } = form.problems;
  const context = { form: form.id, errorsOf: (path: string) => byField.get(path) ?? [], help, lists, notes, onPicture };
  const controls = (some: readonly Field[]) =>
    some.map((field) => (
      <FieldControl
        key={field.name}
        field={field}
        path={field.name}
        value={form.values[field.name] ?? ""}
        context={context}
        onChange={(value) => {
          form.set(field.name, value);
        }}
      />
    ));
  const isMain = (field: Field) => field.required || main.includes(field.name);
  const more = fields.filter((field) => !isMain(field));
  return (
    <>
      {controls(fields.filter(isMain))}
      {more.length > 0 && (
        <details>
          <summary>More fields</summary>
          {controls(more)}
        </details>
      )}
    </>
  );
}

function Others({ id, messages }: { id: string; messages: readonly string[] }) {
  if (messages.length === 0) return null;
  return (
    <div id={id} class="note note-error" role="alert" tabIndex={-1}>
      {messages.map((message) => (
        <p key={message}>{message}</p>
      ))}
    </div>
  );
}

interface NotKnownProps {
  message: string;
  onAgain: () => void;
  onEdit: () => void;
}

/** The answer of a call was lost. */
function NotKnown({ message, onAgain, onEdit }: NotKnownProps) {
  return (
    <div class="note note-warning" role="alert">
      <p>
        {message} It is not certain whether the service took the call. Send it again: the service recognizes it, and
        does it only once. As a new call it could happen twice.
      </p>
      <div class="actions">
        <Button kind="primary" onClick={onAgain}>
          Send it again
        </Button>
        <Button onClick={onEdit}>Make a new call</Button>
      </div>
    </div>
  );
}

function withPicture(now: Pictures, name: string, file: File | null): Pictures {
  const rest = Object.fromEntries(Object.entries(now).filter(([key]) => key !== name));
  return file === null ? rest : { ...rest, [name]: file };
}
