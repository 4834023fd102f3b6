import { useState } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import type { paths } from "../../client/document.ts";
import { Button } from "../parts/button.tsx";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loading } from "../parts/loading.tsx";
import { Screen } from "../parts/screen.tsx";
import { Secret } from "../parts/secret.tsx";
import { Table } from "../parts/table.tsx";
import { Ether } from "../parts/when.tsx";
import { client } from "../service/client.ts";
import { chooseApp } from "../service/session.ts";
import { useData, usePages } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { Charts } from "./charts.tsx";
import { CreateApp, type NewApp } from "./create-app.tsx";
import { Doctor, OperatorStatus } from "./operator-status.tsx";

type Answer = paths["/v1/operator/apps"]["get"]["responses"]["200"]["content"]["application/json"];
type App = Answer["apps"][number];

const SPANS = [
  [24, "24 hours"],
  [168, "7 days"],
  [720, "30 days"],
] as const;

const PARTS = [
  ["state", "State"],
  ["apps", "Apps"],
  ["time", "Over time"],
] as const;

/** The service as a whole: what needs a person, the apps with their usage, and what became final over time. */
export function OperatorScreen({ params }: ScreenProps<"part">) {
  const part = PARTS.find(([name]) => name === params.part)?.[0] ?? PARTS[0][0];
  return (
    <Screen title="Operator">
      <nav class="parts" aria-label="Parts of this page">
        {PARTS.map(([name, text]) => (
          <a
            key={name}
            href={href("/operator/:part", { part: name })}
            aria-current={part === name ? "page" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      {part === "state" && (
        <>
          <Doctor />
          <OperatorStatus />
        </>
      )}
      {part === "apps" && <Apps />}
      {part === "time" && <OverTime />}
    </Screen>
  );
}

function OverTime() {
  const [hours, setHours] = useState<number>(SPANS[0][0]);
  return (
    <section class="stack">
      <h2>Over time</h2>
      <div class="filter" role="group" aria-label="Time">
        {SPANS.map(([value, text]) => (
          <Button key={text} kind="small" aria-pressed={hours === value} onClick={() => setHours(value)}>
            {text}
          </Button>
        ))}
      </div>
      <Series key={hours} hours={hours} />
    </section>
  );
}

function Series({ hours }: { hours: number }) {
  const { data, error, reload } = useData(
    () => answerOf(client().GET("/v1/operator/series", { params: { query: { hours } } })),
    [hours],
  );
  if (error !== null) return <ErrorNote error={error} retry={reload} />;
  return data === null ? <Loading /> : <Charts points={data.points} />;
}

function Apps() {
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewApp | null>(null);
  const pages = usePages(async (cursor) => {
    const query = cursor === undefined ? {} : { cursor };
    const { apps, next } = await answerOf(client().GET("/v1/operator/apps", { params: { query } }));
    return { items: apps, next };
  }, []);
  return (
    <section class="stack">
      <div class="screen-head">
        <h2>Apps</h2>
        <Button kind="primary" onClick={() => setCreating(true)}>
          Create an app
        </Button>
      </div>
      {created !== null && (
        <Secret title={`The API key of ${created.name}`} text={created.token} onDone={() => setCreated(null)}>
          A program of the app sends it with each call (<code>MONETA_TOKEN</code>).
        </Secret>
      )}
      <CursorList
        pages={pages}
        empty={<EmptyState title="No apps yet">An app has its own wallets, collections and API keys.</EmptyState>}
      >
        {(apps) => <AppsTable apps={apps} />}
      </CursorList>
      {creating && (
        <CreateApp
          onClose={() => setCreating(false)}
          onCreated={(app) => {
            setCreated(app);
            pages.reload();
          }}
        />
      )}
    </section>
  );
}

function AppsTable({ apps }: { apps: readonly App[] }) {
  return (
    <Table
      caption="Apps with their usage"
      rows={apps}
      keyOf={(app) => app.app_id}
      columns={[
        {
          head: "App",
          cell: ({ app_id, name }) => (
            <Button
              onClick={() => {
                chooseApp({ app_id, name });
                location.hash = "#/";
              }}
            >
              <bdi>{name}</bdi>
            </Button>
          ),
        },
        { head: "Today", right: true, cell: ({ today }) => requestsOf(today) },
        { head: "Fees today", right: true, cell: ({ today }) => <Ether wei={today.fee_wei} /> },
        { head: "30 days", right: true, cell: ({ last_30_days: month }) => requestsOf(month) },
        { head: "Fees", right: true, cell: ({ last_30_days: month }) => <Ether wei={month.fee_wei} /> },
      ]}
    />
  );
}

function requestsOf({ requests_accepted: accepted, requests_failed: failed }: App["today"]): string {
  return `${accepted.toLocaleString("en")} requests, ${failed.toLocaleString("en")} failed`;
}
