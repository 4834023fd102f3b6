import type { Shape } from "../../client/client.ts";
import { Address, Copyable } from "../parts/copyable.tsx";
import { Facts } from "../parts/facts.tsx";
import { Age } from "../parts/when.tsx";
import { href } from "../shell/href.ts";

type Report = NonNullable<NonNullable<Shape<"Collection">["adopted"]>["rescue"]>;
type Problem = Report["problems"][number];

const PROBLEMS: Readonly<Record<Problem["problem"], string>> = {
  missing: "Missing",
  unusable: "Not metadata",
  changed: "Changed at the source",
  too_large: "Too large",
};

/** What the last rescue of an adopted collection has copied and found, and the call by which its owner makes the contract use it. */
export function RescueReport({ collection }: { collection: Shape<"Collection"> }) {
  const { address, adopted } = collection;
  if (adopted === null) return null;
  const { rescue } = adopted;
  return (
    <section class="card stack" aria-label="Copy of the metadata">
      <h2>Copy of the metadata</h2>
      {rescue === null ? (
        <p>
          Metadata and pictures are still where the contract says, and nowhere else. To copy them, the operator runs{" "}
          <code>npm run cli -- collection rescue {address} --folder rescued</code>.
        </p>
      ) : (
        <Facts
          facts={[
            [rescue.finished ? "Copied" : "Last copied", <Age key="at" time={rescue.at} />],
            [
              "Served here",
              `${rescue.served.toString()} of ${rescue.tokens.toString()} tokens${rescue.finished ? "" : "; the copy is not finished"}`,
            ],
            ...rescue.problems
              .filter(({ count }) => count > 0)
              .map(
                (found) =>
                  [PROBLEMS[found.problem], <Found key={found.problem} address={address} {...found} />] as const,
              ),
            ["Base URI", <Copyable key="base" text={rescue.call.argument} what="the base URI" />],
            [
              "Call of the owner",
              <span key="call">
                <code>{rescue.call.function}</code>, data{" "}
                <Address value={rescue.call.data} what="the data of the call" />
              </span>,
            ],
          ]}
        />
      )}
    </section>
  );
}

/** How many documents and files, and of which tokens. */
function Found({ address, count, token_ids: ids }: Problem & { address: string }) {
  return (
    <span>
      {count.toString()}, of{" "}
      {ids.map((id, index) => (
        <span key={String(id)}>
          {index > 0 && ", "}
          {id === null ? (
            "the collection itself"
          ) : (
            <a href={href("/collections/:address/:token_id", { address, token_id: String(id) })}>token {String(id)}</a>
          )}
        </span>
      ))}
      {ids.length < count && " …"}
    </span>
  );
}
