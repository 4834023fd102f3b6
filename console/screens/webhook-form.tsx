import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { toast } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";
import type { Webhook } from "../service/webhooks.ts";

type EventType = NonNullable<Webhook["events"]>[number];

/** What a webhook gets that names no events. */
const USUAL: Partial<Record<EventType, string>> = {
  sent: "Sent: the transaction of a request was sent",
  completed: "Completed: a request is done",
  error: "Error: a request failed",
  corrected: "Corrected: a chain reorganization changed a result",
};
const OTHERS: Record<Exclude<EventType, "sent" | "completed" | "error" | "corrected">, string> = {
  in_block: "In a block: a request is in a block that is not final yet",
  dropped: "Dropped: a chain reorganization removed that block",
  "token.minted": "Token minted",
  "token.burned": "Token burned",
  "token.sent": "Token sent by a wallet of the app",
  "token.received": "Token received by a wallet of the app",
  "token.transferred": "Token of the app's collections moved between strangers",
  gap: "Gap: blocks in which some moves of tokens have no event",
};
const LABELS = { ...USUAL, ...OTHERS };
const ALL = Object.keys(LABELS) as EventType[];
const DEFAULTS = Object.keys(USUAL) as EventType[];

/** The types of events that a webhook gets. */
export function typesOf(events: Webhook["events"]): readonly EventType[] {
  return events ?? DEFAULTS;
}

const ABOUT_CONTRACTS =
  "Addresses, one in each line. Only events about these contracts are sent. Empty: all contracts.";

interface Props {
  present: Webhook | null;
  /** @param secret the signing secret of a new webhook */
  onSaved: (secret: string | null) => void;
}

/** Creates or changes a webhook. */
export function WebhookForm({ present, onSaved }: Props) {
  const [url, setUrl] = useState(present?.url ?? "");
  const [description, setDescription] = useState(present?.description ?? "");
  const [events, setEvents] = useState(typesOf(present?.events ?? null));
  const [contracts, setContracts] = useState(present?.collections?.join("\n") ?? "");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function save(): Promise<void> {
    setBusy(true);
    setError(null);
    const collections = contracts.split(/[\s,]+/).filter((one) => one !== "");
    const body = {
      url,
      events: isDefault(events) ? null : [...events],
      collections: collections.length === 0 ? null : collections,
      description: description === "" ? null : description,
    };
    try {
      onSaved(await send(present, body));
      toast("The webhook is saved.");
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const errors = error instanceof ApiRefusal ? error.fieldErrors : [];
  const errorOf = (name: string) => errors.find(({ field }) => field.split(".")[0] === name)?.message;
  const text = (change: (value: string) => void) => (event: { currentTarget: { value: string } }) => {
    change(event.currentTarget.value);
    setError(null);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label="URL" hint="http or https, at a public address." error={errorOf("url")} required>
        {(control) => <input {...control} type="url" required autocomplete="off" value={url} onInput={text(setUrl)} />}
      </Field>
      <Field label="Description" hint="Your own words." error={errorOf("description")}>
        {(control) => <input {...control} value={description} onInput={text(setDescription)} />}
      </Field>
      <EventTypes chosen={events} onChange={setEvents} />
      <Field label="Contracts" hint={ABOUT_CONTRACTS} error={errorOf("collections")}>
        {(control) => <textarea {...control} rows={2} value={contracts} onInput={text(setContracts)} />}
      </Field>
      {error !== null && errors.length === 0 && <ErrorNote error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" busy={busy} disabled={events.length === 0}>
          Save the webhook
        </Button>
      </div>
    </form>
  );
}

function isDefault(events: readonly EventType[]): boolean {
  return events.length === DEFAULTS.length && DEFAULTS.every((type) => events.includes(type));
}

type Body = Pick<Webhook, "url" | "events" | "collections" | "description">;

/** @returns the secret of a new webhook. */
async function send(present: Webhook | null, body: Body): Promise<string | null> {
  if (present === null) return (await answerOf(client().POST("/v1/webhooks", { body }))).secret;
  await answerOf(client().PATCH("/v1/webhooks/{id}", { params: { path: { id: present.id } }, body }));
  return null;
}

function EventTypes({ chosen, onChange }: { chosen: readonly EventType[]; onChange: (chosen: EventType[]) => void }) {
  return (
    <fieldset class="options">
      <legend>Events</legend>
      {ALL.map((type) => (
        <label key={type}>
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              onChange(ALL.filter((one) => (one === type ? checked : chosen.includes(one))));
            }}
          />
          {LABELS[type]}
        </label>
      ))}
    </fieldset>
  );
}
