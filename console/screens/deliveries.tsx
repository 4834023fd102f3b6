import { useEffect, useState } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Table } from "../parts/table.tsx";
import { sayProblem, toast } from "../parts/toasts.tsx";
import { Age, Moment } from "../parts/when.tsx";
import { useAgain } from "../service/again.ts";
import { client } from "../service/client.ts";
import { usePages } from "../service/use-data.ts";
import { href } from "../shell/href.ts";

type Delivery = Shape<"Delivery">;

/** Milliseconds until the list is read again while a delivery is about to be tried. No event tells its answer. */
const SOON_MS = 1_000;
/** For so long a delivery may be about to be tried. Older ones wait for an earlier event, or for a retry. */
const NEW_MS = 15_000;
/** Deliveries on a page. */
const PAGE = 30;
const KINDS = { pending: "warning", delivered: "good", failed: "bad" } as const;
const TEXTS = { pending: "Waiting", delivered: "Delivered", failed: "Failed" } as const;

interface Props {
  /** Of the webhook. */
  id: string;
  /** Whether the webhook takes deliveries. */
  enabled: boolean;
  /** The receiver has answered. */
  onAnswer: () => void;
}

/** The listing of deliveries. It is read again by itself while an answer is about to come. */
function useDeliveries({ id, enabled, onAnswer }: Props) {
  const pages = usePages(
    async (cursor) => {
      const params = { path: { id }, query: cursor === undefined ? {} : { cursor } };
      const page = await answerOf(client().GET("/v1/webhooks/{id}/deliveries", { params }));
      return { items: page.deliveries, next: page.next };
    },
    [id],
  );
  /** When the last delivery of the list was sent again. */
  const [sentAgain, setSentAgain] = useState(0);
  const waits = enabled && pages.items.some((delivery) => isSoonTried(delivery, sentAgain));
  useEffect(() => {
    if (!waits || pages.loading || pages.error !== null) return undefined;
    const timer = setTimeout(pages.reload, SOON_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [waits, pages.loading]);
  const newest = pages.items[0];
  useEffect(onAnswer, [newest?.id, newest?.status, newest?.error]);
  // The page's stream has only the usual types of events. A person who has loaded more pages keeps them.
  useAgain(enabled && pages.items.length <= PAGE, pages.reload);
  return {
    pages,
    /** A delivery was sent again. */
    followAnswer: () => {
      setSentAgain(Date.now());
      pages.reload();
    },
  };
}

/** Calls of a webhook with the receiver's answers. */
export function Deliveries(props: Props) {
  const { id, enabled } = props;
  const { pages, followAnswer } = useDeliveries(props);
  return (
    <section class="stack">
      <h2>Deliveries</h2>
      {pages.items.some(({ status }) => status === "failed") && (
        <RedeliverFailed id={id} enabled={enabled} onDone={followAnswer} />
      )}
      <CursorList
        pages={pages}
        empty={
          <EmptyState title="No deliveries yet">
            {enabled ? "Send a test event, and see the answer of your receiver here." : "The webhook is disabled."}
          </EmptyState>
        }
      >
        {(deliveries) => (
          <Table
            caption="Deliveries, newest first"
            rows={deliveries}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Event",
                cell: (delivery) => (
                  <>
                    <Event delivery={delivery} />
                    <Payload id={delivery.id} />
                  </>
                ),
              },
              { head: "State", cell: ({ status }) => <Badge kind={KINDS[status]}>{TEXTS[status]}</Badge> },
              { head: "Answer", cell: (delivery) => <ReceiverAnswer delivery={delivery} /> },
              { head: "Tries", right: true, cell: ({ attempts }) => attempts },
              { head: "When", right: true, cell: ({ created_at }) => <Age time={created_at} /> },
              {
                head: "Again",
                right: true,
                cell: ({ id }) => <Redeliver id={id} enabled={enabled} onDone={followAnswer} />,
              },
            ]}
          />
        )}
      </CursorList>
    </section>
  );
}

/** The service tries a new delivery at once, and one that a person sends again: its answer comes soon. */
function isSoonTried({ status, attempts, created_at: created }: Delivery, sentAgain: number): boolean {
  if (status !== "pending") return false;
  const since = attempts === 0 ? Math.max(Date.parse(created), sentAgain) : sentAgain;
  return Date.now() - since < NEW_MS;
}

function Event({ delivery: { event_type: type, request_id } }: { delivery: Delivery }) {
  if (request_id === null) return <>{type}</>;
  return <a href={href("/requests/:request_id", { request_id })}>{type}</a>;
}

function ReceiverAnswer({ delivery }: { delivery: Delivery }) {
  const { response_status: status, response_body: body, error, next_attempt_at: next } = delivery;
  const answer = status === null ? null : `HTTP ${status.toString()}`;
  return (
    <>
      {[answer, error].filter((one) => one !== null).join(": ") || "none yet"}
      {next !== null && error !== null && (
        <div class="muted">
          Next try by <Moment time={next} />
        </div>
      )}
      {body !== null && (
        <details>
          <summary>Body</summary>
          <pre tabIndex={0}>{body}</pre>
        </details>
      )}
    </>
  );
}

/** What the receiver gets. It is read when a person opens it. */
function Payload({ id }: { id: string }) {
  const [text, setText] = useState<string | null>(null);

  async function read(): Promise<void> {
    const params = { path: { id } };
    const { payload } = await answerOf(client().GET("/v1/webhook/deliveries/{id}", { params }));
    setText(JSON.stringify(JSON.parse(payload), null, 2));
  }

  return (
    <details
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && text === null) read().catch(sayProblem);
      }}
    >
      <summary>Payload</summary>
      {text !== null && <pre tabIndex={0}>{text}</pre>}
    </details>
  );
}

/** Calls until all failed deliveries that the service looks through are sent again. */
const MOST_CALLS = 10;

/** Sends the events of all failed deliveries again. */
function RedeliverFailed({ id, enabled, onDone }: { id: string; enabled: boolean; onDone: () => void }) {
  const [busy, setBusy] = useState(false);

  async function send(): Promise<void> {
    setBusy(true);
    try {
      let sent = 0;
      for (let calls = 0, more = true; more && calls < MOST_CALLS; calls++) {
        const part = await answerOf(
          client().POST("/v1/webhooks/{id}/deliveries/redeliver", { params: { path: { id } } }),
        );
        sent += part.redelivered;
        more = part.more;
      }
      toast(
        sent === 0 ? "All failed events were sent again before." : `${sent.toString()} failed events are sent again.`,
      );
      onDone();
    } finally {
      setBusy(false);
    }
  }

  return (
    <div class="actions">
      <Button busy={busy} disabled={!enabled} onClick={() => void send().catch(sayProblem)}>
        Send all failed again
      </Button>
      <span class="muted">
        {enabled ? "Each event once, with the same id." : "The webhook takes no deliveries now."}
      </span>
    </div>
  );
}

function Redeliver({ id, enabled, onDone }: { id: string; enabled: boolean; onDone: () => void }) {
  const [busy, setBusy] = useState(false);

  async function send(): Promise<void> {
    setBusy(true);
    try {
      await answerOf(client().POST("/v1/webhook/deliveries/{id}/redeliver", { params: { path: { id } } }));
      toast("The event is sent again.");
      onDone();
    } finally {
      setBusy(false);
    }
  }

  return (
    <Button busy={busy} disabled={!enabled} onClick={() => void send().catch(sayProblem)}>
      Redeliver
    </Button>
  );
}
