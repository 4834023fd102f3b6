import { useMemo } from "preact/hooks";

import type { Shape } from "../../client/client.ts";
import { fieldsOf } from "../forms/model/fields.ts";
import type { ApiDocument } from "../forms/model/schema.ts";
import { fieldsOfVariant, mintVariant } from "../forms/model/variants.ts";
import { readApiDocument } from "../write/api-document.ts";
import { closedBecause, readCollection } from "../service/collections.ts";
import { NeedsScope } from "../write/needs-scope.tsx";
import { WithLoaded } from "../write/with-loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { useData } from "../service/use-data.ts";
import { href, type ScreenProps } from "../shell/href.ts";
import { DryRun } from "../import/dry-run.tsx";
import { type Choices, ImportChoices, useChoices } from "../import/import-choices.tsx";
import { RunPanel } from "../import/run-panel.tsx";
import { useDryRun } from "../import/use-dry-run.ts";

/** Mints many tokens from a CSV file. */
export function ImportScreen({ params }: ScreenProps<"address">) {
  const { address } = params;
  const loaded = useData(() => Promise.all([readApiDocument(), readCollection(address)]), [address]);
  return (
    <Screen
      title="Mint many from a CSV file"
      trail={<a href={href("/collections/:address", { address })}>{loaded.data?.[1].name ?? "Collection"}</a>}
    >
      <NeedsScope scope="mint" action="mint tokens">
        <WithLoaded loaded={loaded}>
          {([document, collection]) => <Import document={document} collection={collection} />}
        </WithLoaded>
      </NeedsScope>
    </Screen>
  );
}

interface ImportProps {
  document: ApiDocument;
  collection: Shape<"Collection">;
}

function Import({ document, collection }: ImportProps) {
  const fields = useMemo(
    () => fieldsOfVariant(fieldsOf(document, "post /v1/nfts"), mintVariant(collection, "new")),
    [document, collection],
  );
  const [choices, change] = useChoices();
  const dryRun = useDryRun(collection, fields, choices);
  const closed = closedBecause(collection);
  if (closed !== null) return <p class="note">{closed} No new token can be minted.</p>;
  return (
    <div class="stack">
      <ImportChoices collection={collection} fields={fields} choices={choices} onChange={change} />
      {choices.table !== null && <DryRun dryRun={dryRun} choices={choices} onChange={change} />}
      {dryRun.is === "ready" && (
        // Another file or another receiver is another run.
        <RunPanel key={dryRun.plan.name} plan={dryRun.plan} pictures={picturesOf(choices)} />
      )}
    </div>
  );
}

function picturesOf({ pictures }: Choices): readonly File[] {
  return pictures;
}
