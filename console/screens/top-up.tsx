import { useEffect, useState } from "preact/hooks";
import type { QrCodeGenerateResult } from "uqr";

import type { Shape } from "../../client/client.ts";
import { Copyable } from "../parts/copyable.tsx";
import { Ether } from "../parts/when.tsx";
import { session } from "../service/session.ts";

type Lane = Shape<"Lane">;

/** The lanes that need funds: where to send how much. Wallets on phones read the code. */
export function TopUp({ lanes }: { lanes: readonly Lane[] }) {
  const low = lanes.filter((lane) => lane.low_funds === true);
  if (low.length === 0) return null;
  return (
    <section class="stack" aria-label="Top up">
      <h3>Top up</h3>
      <p>Send the chain's own currency to these addresses. The service notices it by itself.</p>
      {low.map((lane) => (
        <div key={lane.address} class="card top-up">
          <QrCode text={paymentUri(lane.address)} label={`Payment address of lane ${lane.lane.toString()}`} />
          <dl class="facts">
            <dt>Lane {lane.lane}</dt>
            <dd>
              <Copyable text={lane.address} what="the address" />
            </dd>
            <dt>It has</dt>
            <dd>{lane.balance_wei === null ? "not known" : <Ether wei={lane.balance_wei} />}</dd>
            <dt>Send</dt>
            <dd>
              {lane.advised_wei === null ? (
                "not known"
              ) : (
                <>
                  <Ether wei={lane.advised_wei} /> or more: ten transactions like the recent ones at the present fees
                </>
              )}
            </dd>
          </dl>
        </div>
      ))}
    </section>
  );
}

/** EIP-681. */
function paymentUri(address: string): string {
  return `ethereum:${address}@${session().chain_id.toString()}`;
}

/** Squares of free space around the code, which readers need. */
const BORDER = 4;

/** Absent until its library is loaded, and without it: the address stands beside the code. */
function QrCode({ text, label }: { text: string; label: string }) {
  const [code, setCode] = useState<QrCodeGenerateResult | null>(null);
  useEffect(() => {
    import("uqr").then(
      ({ encode }) => {
        setCode(encode(text, { ecc: "M", border: BORDER }));
      },
      () => undefined,
    );
  }, [text]);
  if (code === null) return null;
  const size = code.size.toString();
  const squares = code.data.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x.toString()} ${y.toString()}h1v1h-1z`] : [])),
  );
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={squares.join("")} />
    </svg>
  );
}
