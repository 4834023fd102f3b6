import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { ApiRefusal } from "../../client/errors.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { LastCall } from "../parts/last-call.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen } from "../parts/screen.tsx";
import { Secret } from "../parts/secret.tsx";
import { sayProblem, toast } from "../parts/toasts.tsx";
import { Moment } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { Deliveries } from "./deliveries.tsx";
import { WebhookForm } from "./webhook-form.tsx";

const NOT_FOUND = 404;
const SECRET_HINT = "The receiver checks the signature of each call with it. Store it where the receiver reads it.";

/** Without a webhook the API answers 404, which the browser reports in its console. No other call says whether there is one. */
async function readWebhook() {
  try {
    return { webhook: await answerOf(client().GET("/v1/webhook")) };
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === NOT_FOUND) return { webhook: null };
    throw error;
  }
}

type Webhook = NonNullable<Awaited<ReturnType<typeof readWebhook>>["webhook"]>;

/** The app's webhook and its deliveries. */
export function WebhookScreen() {
  const { data, error, reload } = useData(readWebhook, []);
  const [secret, setSecret] = useState<string | null>(null);
  /** A new number lists the deliveries again. */
  const [sent, setSent] = useState(0);
  const saved = (shown: string | null) => {
    if (shown !== null) setSecret(shown);
    reload();
  };
  return (
    <Screen title="Webhook">
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {secret !== null && (
        <Secret title="The signing secret of the webhook" text={secret} onDone={() => setSecret(null)}>
          {SECRET_HINT}
        </Secret>
      )}
      {data !== null && data.webhook === null && (
        <section class="card stack">
          <h2>Register a webhook</h2>
          <p class="muted">The service sends the result of each request to a URL of yours. There is no webhook yet.</p>
          <WebhookForm present={null} onSaved={saved} />
        </section>
      )}
      {data !== null && data.webhook !== null && (
        <>
          <Registered
            webhook={data.webhook}
            onSaved={saved}
            onSecret={setSecret}
            onSent={() => {
              setSent(sent + 1);
            }}
            onRemoved={() => {
              setSecret(null);
              reload();
            }}
          />
        </>
      )}
      <LastCall />
      {data !== null && <Deliveries key={sent} enabled={data.webhook !== null && data.webhook.disabled_at === null} />}
    </Screen>
  );
}

interface Props {
  webhook: Webhook;
  onSaved: (secret: string | null) => void;
  onSecret: (secret: string) => void;
  onSent: () => void;
  onRemoved: () => void;
}

function Registered({ webhook, onSaved, onSecret, onSent, onRemoved }: Props) {
  const [open, setOpen] = useState<"change" | "rotate" | "remove" | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => {
    setOpen(null);
  };

  async function test(): Promise<void> {
    setBusy(true);
    try {
      await answerOf(client().POST("/v1/webhook/test"));
      toast("A test event is sent. The list below shows the answer.");
      onSent();
    } finally {
      setBusy(false);
    }
  }

  return (
    <section class="card stack">
      <Facts webhook={webhook} />
      {webhook.disabled_at !== null && (
        <p class="note note-warning">
          The webhook is disabled: the receiver answered 410, or the operator disabled it. Save it again to enable it.
        </p>
      )}
      <div class="actions">
        <Button busy={busy} disabled={webhook.disabled_at !== null} onClick={() => void test().catch(sayProblem)}>
          Send a test event
        </Button>
        <Button onClick={() => setOpen(open === "change" ? null : "change")} aria-expanded={open === "change"}>
          Change
        </Button>
        <Button onClick={() => setOpen("rotate")}>Rotate the secret</Button>
        <Button kind="danger" onClick={() => setOpen("remove")}>
          Remove
        </Button>
      </div>
      {open === "change" && (
        <WebhookForm
          present={webhook}
          onSaved={(secret) => {
            close();
            onSaved(secret);
          }}
        />
      )}
      {open === "rotate" && <Rotate onClose={close} onSecret={onSecret} />}
      {open === "remove" && <Remove webhook={webhook} onClose={close} onRemoved={onRemoved} />}
    </section>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  return (
    <dl class="facts">
      <dt>URL</dt>
      <dd>{webhook.url}</dd>
      <dt>Events</dt>
      <dd>{webhook.events === null ? "all" : webhook.events.join(", ")}</dd>
      <dt>State</dt>
      <dd>{webhook.disabled_at === null ? <Badge kind="good">Enabled</Badge> : <Badge kind="bad">Disabled</Badge>}</dd>
      <dt>Registered</dt>
      <dd>
        <Moment time={webhook.created_at} />
      </dd>
    </dl>
  );
}

function Rotate({ onClose, onSecret }: { onClose: () => void; onSecret: (secret: string) => void }) {
  return (
    <ConfirmDialog
      title="Rotate the signing secret?"
      action="Rotate"
      kind="primary"
      onClose={onClose}
      onConfirm={async () => {
        onSecret((await answerOf(client().POST("/v1/webhook/secret"))).secret);
      }}
    >
      <p>You get a new secret, shown once. For 24 hours each call is signed with the old one too.</p>
    </ConfirmDialog>
  );
}

function Remove({ webhook, onClose, onRemoved }: { webhook: Webhook; onClose: () => void; onRemoved: () => void }) {
  return (
    <ConfirmDialog
      title="Remove the webhook?"
      action="Remove"
      onClose={onClose}
      onConfirm={async () => {
        await answerOf(client().DELETE("/v1/webhook"));
        toast("The webhook is removed.");
        onRemoved();
      }}
    >
      <p>
        Nothing is sent to <code>{webhook.url}</code> any more. Events that wait are not delivered. The feed of events
        keeps them.
      </p>
    </ConfirmDialog>
  );
}
