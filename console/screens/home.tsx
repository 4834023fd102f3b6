import type { ComponentChildren } from "preact";

import { answerOf, type Shape } from "../../client/client.ts";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAgain } from "../service/again.ts";
import { client } from "../service/client.ts";
import { useLive } from "../service/live.ts";
import { isOperator, mayUse } from "../service/session.ts";
import { useData } from "../service/use-data.ts";
import { failingWebhooks, problemOf } from "../service/webhooks.ts";
import { href } from "../shell/href.ts";
import { CollectionTiles } from "./collections.tsx";
import { RequestsTable } from "./requests.tsx";
import { useLiveRequests } from "./use-live-requests.ts";

/** Collections and requests that the screen shows. The others are on screens of their own. */
const [COLLECTIONS, REQUESTS] = [4, 5];

/** The first screen: what happens today, whether all is well, and what to do next. */
export function HomeScreen() {
  if (mayUse("read")) return <Home />;
  return (
    <Screen title="Home">
      <EmptyState title="This session cannot read">
        It does not have the scope read, so it shows no collections, requests or wallets. The navigation has what it can
        do.
      </EmptyState>
    </Screen>
  );
}

function Home() {
  const { data, error, loading, reload } = useData(async () => {
    const [summary, { collections }] = await Promise.all([
      answerOf(client().GET("/v1/summary")),
      answerOf(client().GET("/v1/collections", { params: { query: { limit: COLLECTIONS } } })),
    ]);
    return { summary, collections };
  }, []);
  useLive(({ type }) => {
    if (type !== "sent") reload();
  });
  useAgain(data !== null && (data.summary.requests_waiting > 0 || data.summary.sending !== "ok"), reload);
  return (
    <Screen title="Home">
      {error !== null && <ErrorNote error={error} retry={reload} />}
      {data === null && loading && <Loading />}
      {data !== null && (
        <>
          <Sending sending={data.summary.sending} />
          <Webhooks />
          <FirstSteps {...data} />
          {data.summary.collections > 0 && <Today summary={data.summary} />}
          {data.collections.length > 0 && (
            <section class="stack" aria-label="Collections">
              <Head
                title="Collections"
                link={href("/collections")}
                all={`All ${data.summary.collections.toString()}`}
              />
              <CollectionTiles collections={data.collections} />
            </section>
          )}
          <Recent />
        </>
      )}
    </Screen>
  );
}

function Head({ title, link, all }: { title: string; link: string; all: string }) {
  return (
    <div class="screen-head">
      <h2>{title}</h2>
      <a href={link} aria-label={`${all}: ${title}`}>
        {all}
      </a>
    </div>
  );
}

const PROBLEMS: Record<Exclude<Shape<"Summary">["sending"], "ok">, string> = {
  low_funds: "The keys that pay for transactions are low on funds. Mints are accepted, and wait when nothing is left.",
  paused: "The operator has paused the relay. Mints are accepted, and wait until it goes on.",
  fees_too_high: "Gas costs more than the operator accepts. Mints are accepted, and wait until fees fall.",
  lane_stuck: "No block has contained the last transactions for more than five minutes. Mints are accepted, and wait.",
  unknown:
    "The service does not know now whether it can send transactions. Its node does not answer, or no process that sends runs.",
};

function Sending({ sending }: { sending: Shape<"Summary">["sending"] }) {
  if (sending === "ok") return null;
  return (
    <p class="note note-warning" role="status">
      <span>
        {sending in PROBLEMS ? PROBLEMS[sending] : PROBLEMS.unknown}{" "}
        {isOperator() ? (
          <a href={href("/operator")}>See the lanes and their funds</a>
        ) : (
          "Tell the operator of the service."
        )}
      </span>
    </p>
  );
}

function Webhooks() {
  return failingWebhooks.value.map((webhook) => (
    <p class="note note-warning" key={webhook.id}>
      <span>
        The webhook <bdi>{webhook.description ?? webhook.url}</bdi> does not get its events: {problemOf(webhook)}.{" "}
        <a href={href("/webhooks/:id", { id: webhook.id })}>Show its deliveries</a>
      </span>
    </p>
  ));
}

function Today({ summary }: { summary: Shape<"Summary"> }) {
  const { today, yesterday, requests_waiting: waiting, sending } = summary;
  const failed = today.requests_failed + yesterday.requests_failed;
  return (
    <section aria-label="Today">
      <dl class="figures">
        <Figure name="Minted today" note={`${yesterday.mints_completed.toString()} yesterday`}>
          {today.mints_completed}
        </Figure>
        <Figure name="Requests today" note={`${yesterday.requests_accepted.toString()} yesterday`}>
          {today.requests_accepted}
        </Figure>
        <Figure
          name="Failed"
          note={failed === 0 ? "today and yesterday" : <a href={href("/requests/state/failed")}>Show why</a>}
        >
          {failed}
        </Figure>
        <Figure name="Waiting" note={sending === "ok" ? "The service can mint." : "The service may be unable to mint."}>
          {waiting}
        </Figure>
      </dl>
      <p class="muted">Days begin at midnight UTC.</p>
    </section>
  );
}

function Figure({ name, note, children }: { name: string; note: ComponentChildren; children: number }) {
  return (
    <div class="card">
      <dt>{name}</dt>
      <dd>
        <strong>{children.toLocaleString("en")}</strong>
        <span class="muted">{note}</span>
      </dd>
    </div>
  );
}

interface StepsProps {
  summary: Shape<"Summary">;
  collections: readonly Shape<"Collection">[];
}

/** Leads to the first token. It is gone as soon as there is one. */
function FirstSteps({ summary, collections }: StepsProps) {
  const [first] = collections;
  if (summary.collections > collections.length || collections.some(({ minted }) => minted > 0)) return null;
  const isWaiting = summary.requests_waiting > 0;
  return (
    <EmptyState title={first === undefined ? "Make your first token" : "Mint your first token"}>
      <ol class="steps">
        <li>
          {first !== undefined ? (
            <>
              The collection <bdi>{first.name}</bdi> exists.
            </>
          ) : isWaiting ? (
            "The collection is being created. It appears here by itself."
          ) : (
            <Step scope="collections" to={href("/collections/new")}>
              Create the first collection
            </Step>
          )}
        </li>
        <li>
          {first === undefined ? (
            "Mint a token into it, to a wallet of a user. Watch it arrive here."
          ) : (
            <Step scope="mint" to={href("/collections/:address/mint", { address: first.address })}>
              Mint the first token
            </Step>
          )}
        </li>
        <li>
          <a href={href("/tokens")}>Create an API key</a> for your program, which does the same by HTTP.
        </li>
      </ol>
    </EmptyState>
  );
}

function Step({ scope, to, children }: { scope: string; to: string; children: string }) {
  if (!mayUse(scope)) return <>{`${children}. This session does not have the scope ${scope}.`}</>;
  return (
    <a class="button button-primary" href={to}>
      {children}
    </a>
  );
}

function Recent() {
  const pages = useLiveRequests(null, async () => {
    const params = { query: { limit: REQUESTS } };
    const { requests } = await answerOf(client().GET("/v1/requests", { params }));
    return { items: requests, next: null };
  });
  return (
    <section class="stack" aria-label="Recent requests">
      <Head title="Recent requests" link={href("/requests")} all="All" />
      <CursorList pages={pages} empty={<p class="muted">No requests yet. They appear here while they happen.</p>}>
        {(requests) => <RequestsTable caption="The newest requests" requests={requests.slice(0, REQUESTS)} />}
      </CursorList>
    </section>
  );
}
