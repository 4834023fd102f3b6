import { useState } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { ImportChoices, useChoices } from "../import/choices.tsx";
import { DryRun } from "../import/dry-run-panel.tsx";
import { useDryRun } from "../import/dry-run.ts";
import { importOf030 } from "../import/progress.ts";
import { RunPanel } from "../import/run-panel.tsx";
import { Screen } from "../parts/screen.tsx";
import { closedBecause, readCollection } from "../service/collections.ts";
import { dateTime } from "../service/format.ts";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";

/** Mints many tokens: a folder, files or a table. */
export function ImportScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const loaded = useData(() => readCollection(address), [address]);
  return (
    <Screen
      title="Mint a folder or a table"
      trail={<a href={href("/collections/:address", { address })}>{loaded.data?.name ?? "Collection"}</a>}
    >
      <NeedsScope scope="mint" action="mint tokens">
        <WithLoaded loaded={loaded}>{(collection) => <Import collection={collection} />}</WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

function Import({ collection }: { collection: Shape<"Collection"> }) {
  const [choices, change] = useChoices();
  const [earlier] = useState(() => importOf030(localStorage, new Date()));
  const dryRun = useDryRun(collection, choices);
  const closed = closedBecause(collection);
  if (closed !== null) return <p class="note">{closed} No new token can be minted.</p>;
  return (
    <div class="stack">
      {earlier !== null && (
        <p class="note note-warning">
          On {dateTime(earlier)}, this browser imported with version 0.3.0. This version does not know its rows: do not
          choose the same file again before you have looked at what was minted.
        </p>
      )}
      <ImportChoices collection={collection} choices={choices} onChange={change} />
      {choices.chosen.files.size > 0 && <DryRun dryRun={dryRun} choices={choices} onChange={change} />}
      {dryRun.is === "checked" && dryRun.plan !== null && (
        // Other files or another receiver are another run.
        <RunPanel key={dryRun.plan.name} plan={dryRun.plan} />
      )}
    </div>
  );
}
