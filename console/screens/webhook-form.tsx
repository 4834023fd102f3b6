import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import type { paths } from "../../client/document.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Field } from "../parts/field.tsx";
import { toast } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";

type Body = paths["/v1/webhook"]["put"]["requestBody"]["content"]["application/json"];
type EventType = NonNullable<Body["events"]>[number];

const EVENTS: Record<EventType, string> = {
  sent: "Sent: the transaction of a request was sent",
  completed: "Completed: a request is done",
  error: "Error: a request failed",
  corrected: "Corrected: a chain reorganization changed a result",
};
const ALL = Object.keys(EVENTS) as EventType[];

interface Props {
  present: { url: string; events: EventType[] | null } | null;
  /** @param secret the signing secret of a first registration */
  onSaved: (secret: string | null) => void;
}

/** Registers or changes the webhook. */
export function WebhookForm({ present, onSaved }: Props) {
  const [url, setUrl] = useState(present?.url ?? "");
  const [events, setEvents] = useState<readonly EventType[]>(present?.events ?? ALL);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function save(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      // Without a choice the webhook also gets the event types of later versions.
      const body = { url, ...(events.length === ALL.length ? {} : { events: [...events] }) };
      const { secret } = await answerOf(client().PUT("/v1/webhook", { body }));
      toast("The webhook is saved.");
      onSaved(secret);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  const urlError = error instanceof ApiRefusal ? error.fieldErrors.find(({ field }) => field === "url") : undefined;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label="URL" hint="http or https, at a public address." error={urlError?.message} required>
        {(control) => (
          <input
            {...control}
            type="url"
            required
            autocomplete="off"
            value={url}
            onInput={(event) => {
              setUrl(event.currentTarget.value);
              setError(null);
            }}
          />
        )}
      </Field>
      <EventTypes chosen={events} onChange={setEvents} />
      {error !== null && urlError === undefined && <ErrorNote error={error} />}
      <div class="actions">
        <Button type="submit" kind="primary" busy={busy} disabled={events.length === 0}>
          Save the webhook
        </Button>
      </div>
    </form>
  );
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
          {EVENTS[type]}
        </label>
      ))}
    </fieldset>
  );
}
