import { z } from "zod";

import { type GasMeasurement, NO_L1_DATA, UNMEASURED_GAS } from "../../domain/gas-estimate.ts";
import { readMeta, writeMeta } from "../db/meta.ts";
import type { Db, Trx } from "../db/sql.ts";

export async function readGasMeasurement(db: Db): Promise<StoredGas> {
  const [measured, shortage] = [await readStored(db), await readMeta(db, "gas_shortage")];
  return { ...(measured ?? { measurement: null, answered: null }), shortage };
}

/** @param shortage the value that was stored when the measurement began. */
export async function writeGasMeasurement(trx: Trx, fresh: GasMeasurement, shortage: string | null): Promise<void> {
  const value: z.infer<typeof stored> = { measurement: fresh, answered: shortage };
  await writeMeta(trx, "gas_measurement", JSON.stringify(value));
}

const gas = z.number().nonnegative();

const linear = z.strictObject({ base: gas, each: gas });

const measurement = z.strictObject({
  newSlot: gas,
  slotUpdate: gas,
  account: gas,
  createCollection: linear,
  firstMintErc721: gas,
  mintErc721: gas,
  compact: z.strictObject({ firstMintErc721: gas, mintErc721: gas, transferErc721: gas }),
  createErc1155: linear,
  mintErc1155: gas,
  announceMetadata: gas,
  freezeMetadata: linear,
  transferErc721: gas,
  transferErc1155: gas,
  floor: z.strictObject({ base: gas, zero: gas, other: gas }),
  // Figures of earlier versions do not have it.
  l1: z.strictObject({ base: gas, zero: gas, other: gas, itemFee: gas }).default(NO_L1_DATA),
  transactionGas: gas.positive(),
});

const stored = z.strictObject({ measurement, answered: z.string().nullable() });

/** What calls cost on the chain, as it was last measured, and what the chain has shown since. */
interface StoredGas {
  /** Null: never measured, or measured by a release with other figures. */
  measurement: GasMeasurement | null;
  /** Hash of the last transaction in which a call ran out of gas; null: none ever did. */
  shortage: string | null;
  /** What `shortage` was when the measurement began. Another value now means that the measurement is out of date. */
  answered: string | null;
}

/** What calls cost on the chain as far as it is known, for estimates. One statement. */
export async function readMeasuredGas(db: Db): Promise<GasMeasurement> {
  return (await readStored(db))?.measurement ?? UNMEASURED_GAS;
}

async function readStored(db: Db): Promise<z.infer<typeof stored> | null> {
  const value = await readMeta(db, "gas_measurement");
  const parsed = value === null ? null : stored.safeParse(JSON.parse(value));
  return parsed?.success === true ? parsed.data : null;
}
