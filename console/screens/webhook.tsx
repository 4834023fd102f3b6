import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { LastCall } from "../parts/last-call.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen } from "../parts/screen.tsx";
import { sayProblem, toast } from "../parts/toasts.tsx";
import { Moment } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";
import { readWebhooks, type Webhook } from "../service/webhooks.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { Deliveries } from "./deliveries.tsx";
import { typesOf, WebhookForm } from "./webhook-form.tsx";
import { SigningSecret, WebhookState } from "./webhooks.tsx";

/** One of the app's webhooks, and its deliveries. */
export function WebhookScreen({ params: { id } }: ScreenProps<"id">) {
  const { data, error, reload } = useData(async () => {
    // All of them, so that the navigation knows the present state.
    const found = (await readWebhooks()).find((webhook) => webhook.id === id);
    if (found === undefined) throw new Error("This webhook does not exist. It may have been removed.");
    return found;
  }, [id]);
  const [secret, setSecret] = useState<string | null>(null);
  /** A new number lists the deliveries again. */
  const [sent, setSent] = useState(0);
  return (
    <Screen title={data?.description ?? "Webhook"} trail={<a href={href("/webhooks")}>Webhooks</a>}>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {secret !== null && <SigningSecret secret={secret} onDone={() => setSecret(null)} />}
      {data !== null && (
        <Registered
          webhook={data}
          onSaved={reload}
          onSecret={setSecret}
          onSent={() => {
            setSent(sent + 1);
            reload();
          }}
        />
      )}
      <LastCall />
      {data !== null && <Deliveries key={sent} id={id} enabled={data.disabled_at === null} onAnswer={reload} />}
    </Screen>
  );
}

interface Props {
  webhook: Webhook;
  onSaved: () => void;
  onSecret: (secret: string) => void;
  onSent: () => void;
}

function Registered({ webhook, onSaved, onSecret, onSent }: Props) {
  const [open, setOpen] = useState<"change" | "rotate" | "remove" | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => {
    setOpen(null);
  };

  async function test(): Promise<void> {
    setBusy(true);
    try {
      await answerOf(client().POST("/v1/webhooks/{id}/test", { params: { path: { id: webhook.id } } }));
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
        <p class="note note-warning">Press Change and save the webhook again to enable it.</p>
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
          onSaved={() => {
            close();
            onSaved();
          }}
        />
      )}
      {open === "rotate" && <Rotate id={webhook.id} onClose={close} onSecret={onSecret} />}
      {open === "remove" && <Remove webhook={webhook} onClose={close} />}
    </section>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  return (
    <dl class="facts">
      <dt>URL</dt>
      <dd>{webhook.url}</dd>
      <dt>Events</dt>
      <dd>{typesOf(webhook.events).join(", ")}</dd>
      <dt>Contracts</dt>
      <dd>{webhook.collections?.join(", ") ?? "all"}</dd>
      <dt>State</dt>
      <dd>
        <WebhookState webhook={webhook} />
      </dd>
      <dt>Created</dt>
      <dd>
        <Moment time={webhook.created_at} />
      </dd>
    </dl>
  );
}

function Rotate({ id, onClose, onSecret }: { id: string; onClose: () => void; onSecret: (secret: string) => void }) {
  return (
    <ConfirmDialog
      title="Rotate the signing secret?"
      action="Rotate"
      kind="primary"
      onClose={onClose}
      onConfirm={async () => {
        onSecret((await answerOf(client().POST("/v1/webhooks/{id}/secret", { params: { path: { id } } }))).secret);
      }}
    >
      <p>You get a new secret, shown once. For 24 hours each call is signed with the old one too.</p>
    </ConfirmDialog>
  );
}

function Remove({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  return (
    <ConfirmDialog
      title="Remove the webhook?"
      action="Remove"
      onClose={onClose}
      onConfirm={async () => {
        await answerOf(client().DELETE("/v1/webhooks/{id}", { params: { path: { id: webhook.id } } }));
        toast("The webhook is removed.");
        location.hash = href("/webhooks");
      }}
    >
      <p>
        Nothing is sent to <code>{webhook.url}</code> any more. Events that wait are not delivered. The feed of events
        keeps them.
      </p>
    </ConfirmDialog>
  );
}
