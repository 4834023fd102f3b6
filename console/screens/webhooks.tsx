import { useState } from "preact/hooks";

import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { LastCall } from "../parts/last-call.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen } from "../parts/screen.tsx";
import { Secret } from "../parts/secret.tsx";
import { Table } from "../parts/table.tsx";
import { Age } from "../parts/when.tsx";
import { useAgain } from "../service/again.ts";
import { useData } from "../service/use-data.ts";
import { problemOf, readWebhooks, type Webhook } from "../service/webhooks.ts";
import { href } from "../shell/href.ts";
import { typesOf, WebhookForm } from "./webhook-form.tsx";

/** The app's webhooks. */
export function WebhooksScreen() {
  const { data, error, reload } = useData(readWebhooks, []);
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  useAgain(data !== null && data.length > 0, reload);
  const isNew = creating || data?.length === 0;
  const actions = (
    <Button kind="primary" onClick={() => setCreating(true)} aria-expanded={isNew}>
      Create a webhook
    </Button>
  );
  return (
    <Screen title="Webhooks" actions={actions}>
      <p class="muted">
        The service sends events to your URLs. Each webhook has its own secret, and none delays another.
      </p>
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {secret !== null && <SigningSecret secret={secret} onDone={() => setSecret(null)} />}
      {isNew && (
        <section class="card stack">
          <h2>Create a webhook</h2>
          <WebhookForm
            present={null}
            onSaved={(shown) => {
              setSecret(shown);
              setCreating(false);
              reload();
            }}
          />
        </section>
      )}
      <LastCall />
      {data !== null && data.length === 0 && (
        <EmptyState title="No webhooks yet">Without one, your program reads the feed of events.</EmptyState>
      )}
      {data !== null && data.length > 0 && <List webhooks={data} />}
    </Screen>
  );
}

function List({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <Table
      caption="Webhooks of the app"
      rows={webhooks}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Webhook",
          cell: ({ id, url, description }) => (
            <>
              <a href={href("/webhooks/:id", { id })}>
                <bdi>{description ?? url}</bdi>
              </a>
              {description !== null && (
                <div class="muted">
                  <bdi>{url}</bdi>
                </div>
              )}
            </>
          ),
        },
        { head: "Events", cell: ({ events }) => typesOf(events).join(", ") },
        { head: "State", cell: (webhook) => <WebhookState webhook={webhook} /> },
        { head: "Created", right: true, cell: ({ created_at }) => <Age time={created_at} /> },
      ]}
    />
  );
}

export function SigningSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Secret title="The signing secret of the webhook" text={secret} onDone={onDone}>
      The receiver checks the signature of each call with it. Store it where the receiver reads it.
    </Secret>
  );
}

/** Whether a webhook gets its events, and why it does not. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const problem = problemOf(webhook);
  if (problem === null) return <Badge kind="good">Enabled</Badge>;
  return (
    <>
      {webhook.disabled_at === null ? <Badge kind="warning">Failing</Badge> : <Badge kind="bad">Disabled</Badge>}
      <div class="muted">{problem}</div>
    </>
  );
}
