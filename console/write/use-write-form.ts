import { useEffect, useId, useState } from "preact/hooks";

import { type Problem, problemsOf } from "../forms/model/check.ts";
import { NO_PROBLEMS, type PlacedProblems, placeProblems, withoutFields } from "../forms/model/errors.ts";
import type { Field } from "../forms/model/fields.ts";
import { type AttributeRow, initialValues, type Value, type Values } from "../forms/model/values.ts";
import { sayProblem } from "../parts/toasts.tsx";
import { type Answer, type Body, useWrite, type Write, type WriteState } from "./use-write.ts";

export interface WriteFormOptions<T> {
  fields: readonly Field[];
  /** Values to begin with, as the API writes them. */
  known?: Record<string, unknown>;
  /** Fields that the screen fills in, and the field of the form that their errors concern. */
  concerns?: Readonly<Record<string, string>>;
  /** Replaces values before the check, such as a user identifier by its address; or says what is wrong with them. */
  prepare?: (values: Values) => Promise<Values | Problem[]>;
  /** The body of the call. A text says why there is nothing to send. */
  bodyOf: (values: Values) => Body | string;
  call: (body: Body, key: string) => Promise<Answer<T>>;
}

export interface WriteFormState<T> {
  /** Begins the ids of the controls. */
  id: string;
  values: Values;
  set: (name: string, value: Value) => void;
  problems: PlacedProblems;
  /** The check or the call runs. */
  busy: boolean;
  write: Write<T>;
  submit: () => void;
  /** Checks the fields, and calls `then` if the service could be called with them. */
  check: (then: () => void) => void;
  /** Sends the call again whose answer was lost. */
  retry: () => void;
  /** Back to the form, for a new call. */
  again: () => void;
}

/** What a form that writes holds and does. */
export function useWriteForm<T>(options: WriteFormOptions<T>): WriteFormState<T> {
  const { fields, known, concerns, call } = options;
  const id = useId();
  const [values, setValues] = useState<Values>(() => initialValues(fields, known));
  const { found, changed, place, change } = usePlaced();
  const [checking, setChecking] = useState(false);
  const write = useWrite(call);
  useFocusOfFirst(id, found);

  const settle = (state: WriteState<T>) => {
    if (state.is !== "refused") return;
    const refused = state.fields.map((problem) => ({ ...problem, field: concerns?.[problem.field] ?? problem.field }));
    const problems = refused.length === 0 ? [{ field: "body", message: state.message }] : refused;
    place(placeProblems(fields, problems));
  };
  const busy = checking || write.state.is === "sending";
  const begin = (then: (body: Body) => Promise<void> | void) => {
    // A second click while the first one is at work.
    if (busy) return;
    setChecking(true);
    const typed = withoutEmptyRows(fields, values);
    setValues(typed);
    checkedBody(typed, options)
      .then((body) => {
        place(Array.isArray(body) ? placeProblems(fields, body) : NO_PROBLEMS);
        return Array.isArray(body) ? undefined : then(body);
      })
      .catch(sayProblem)
      .finally(() => {
        setChecking(false);
      });
  };
  return {
    id,
    values,
    problems: withoutFields(found, changed),
    busy,
    write,
    set: (name, value) => {
      setValues((now) => ({ ...now, [name]: value }));
      change(name);
    },
    submit: () => {
      begin(async (body) => settle(await write.send(body)));
    },
    check: begin,
    retry: () => {
      write.again().then(settle, sayProblem);
    },
    again: () => {
      write.reset();
      place(NO_PROBLEMS);
    },
  };
}

/** @returns the body of the call, or the problems of the values. */
async function checkedBody(
  typed: Values,
  { fields, prepare, bodyOf }: Pick<WriteFormOptions<unknown>, "fields" | "prepare" | "bodyOf">,
): Promise<Body | Problem[]> {
  const prepared = await (prepare?.(typed) ?? typed);
  const problems = Array.isArray(prepared) ? prepared : problemsOf(fields, prepared);
  if (Array.isArray(prepared) || problems.length > 0) return problems;
  const body = bodyOf(prepared);
  return typeof body === "string" ? [{ field: "body", message: body }] : body;
}

/** The problems of the last check, and the fields that were changed since. */
function usePlaced() {
  const [found, setFound] = useState<PlacedProblems>(NO_PROBLEMS);
  const [changed, setChanged] = useState<readonly string[]>([]);
  const place = (placed: PlacedProblems) => {
    setFound(placed);
    setChanged([]);
  };
  const change = (name: string) => {
    setChanged((now) => [...now, name]);
  };
  return { found, changed, place, change };
}

/** Moves the focus to the first wrong field each time problems are found. */
function useFocusOfFirst(id: string, problems: PlacedProblems): void {
  useEffect(() => {
    if (problems === NO_PROBLEMS) return;
    const wrong = document.getElementById(`${id}-${problems.first ?? "others"}`);
    wrong?.closest("details")?.setAttribute("open", "");
    wrong?.focus();
  }, [problems]);
}

/** Rows without any text are not sent, so the numbers of the rows are those of the body. */
function withoutEmptyRows(fields: readonly Field[], values: Values): Values {
  const lists = fields.filter(({ kind }) => kind === "attributes").map(({ name }) => name);
  const kept = lists.map((name) => {
    const rows = values[name] as AttributeRow[];
    return [name, rows.filter(({ trait, value }) => trait.trim() !== "" || value.trim() !== "")];
  });
  return { ...values, ...(Object.fromEntries(kept) as Values) };
}
