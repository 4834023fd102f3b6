import { pino } from "pino";

import { ChainClient } from "../../../api/chain/client.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { DEFAULT_LIMITS, FOREIGN_CALL_GAS } from "../../../api/config/limits.ts";
import { ContractReader } from "../../../api/indexer/contract-reader.ts";
import { Signal } from "../../../api/shared/signal.ts";
import type { ServiceFixture } from "../../support/service-fixture.ts";

/**
 * The background reader of one more process. It works only when a test calls `step`, and its time is the test's.
 * @param now time in milliseconds since 1970.
 */
export function contractReader(moneta: ServiceFixture, now: () => number): ContractReader {
  return new ContractReader({
    database: moneta.service.database,
    client: new ChainClient(new Rpc(moneta.node.url)),
    wake: new Signal(),
    logger: pino({ level: "silent" }),
    now,
    confirmations: 0,
    foreignCallGas: FOREIGN_CALL_GAS,
    readsPerMinute: DEFAULT_LIMITS.contractReads,
  });
}
