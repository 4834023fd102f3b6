import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { configureLocally, withLocalOwner } from "../chain/local-contracts.ts";
import { readDeploymentLinks } from "../chain/reads.ts";
import type { Settings } from "../config/settings.ts";
import { wrongBase } from "../domain/conditions.ts";
import { type Chain, hostedBaseOf } from "./chain-identity.ts";
import type { Keys } from "./keys.ts";

/** On a local chain, funds the lanes and prepares the contracts. On another one, says what its operator should change. */
export async function prepareChain(
  settings: Settings,
  { identity: { contracts }, local }: Chain,
  { keyring }: Keys,
  { client, logger }: { client: ChainClient; logger: Pick<Logger, "warn"> },
): Promise<void> {
  const hostedBase = hostedBaseOf(settings);
  if (!local) return warnOfWrongBase(client, contracts, { hostedBase, logger });
  const lanes = keyring === null ? [] : settings.lanes.map((lane) => keyring.lane(lane).address);
  await withLocalOwner(settings.rpcUrl, (owner) => configureLocally(owner, contracts, { lanes, hostedBase }));
}

/** Warns when the contracts have a wrong base URI: nobody serves that metadata, and only marketplaces would notice. */
export async function warnOfWrongBase(
  client: ChainClient,
  contracts: ContractAddresses,
  { hostedBase, logger }: { hostedBase: string; logger: Pick<Logger, "warn"> },
): Promise<void> {
  const { hostedBase: base } = await readDeploymentLinks(client, contracts);
  const wrong = base === null ? null : wrongBase(base, hostedBase);
  if (wrong !== null) logger.warn(wrong);
}
