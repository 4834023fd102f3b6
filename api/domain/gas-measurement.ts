/** Gas that grows with a length: `base + each * length`. */
export interface LinearGas {
  base: number;
  each: number;
}

/**
 * The least that a transaction costs, whatever it does: `base`, and a price for each zero and each other byte of its calldata
 * (EIP-7623, EIP-7976). A transaction with a lower gas limit is refused.
 */
export interface CalldataFloor {
  base: number;
  zero: number;
  other: number;
}

/** What the service's calls cost on the connected chain. Each figure is the gas of one call, without its transaction. */
export interface GasMeasurement {
  /** The first write to a storage slot. */
  newSlot: number;
  /** A change of a slot that is in use. */
  slotUpdate: number;
  /** The first access to an account in a transaction. */
  account: number;
  /** By the bytes of the calldata: they become a part of the collection's code. */
  createCollection: LinearGas;
  /** The first mint of a collection also creates the slot that counts its tokens. */
  firstMintErc721: number;
  mintErc721: number;
  /** By the 32-byte words of the token's own URI. */
  createErc1155: LinearGas;
  mintErc1155: number;
  announceMetadata: number;
  /** By the 32-byte words of the calldata: it contains the URIs, which are stored. */
  freezeMetadata: LinearGas;
  transferErc721: number;
  transferErc1155: number;
  floor: CalldataFloor;
  /** The highest gas limit that a transaction can have. */
  transactionGas: number;
}

/**
 * EIP-7825: the highest gas limit of a transaction. It applies to chains without this rule, too: they get it with a hard
 * fork, and a transaction that was signed with a higher limit would never be mined.
 */
export const MAX_TRANSACTION_GAS = 16_777_216;

/** Measured under the rules of the Osaka hard fork. */
const OSAKA: GasMeasurement = {
  newSlot: 22_108,
  slotUpdate: 5_012,
  account: 2_610,
  createCollection: { base: 28_549, each: 202 },
  firstMintErc721: 77_080,
  mintErc721: 50_639,
  createErc1155: { base: 54_460, each: 22_450 },
  mintErc1155: 29_714,
  announceMetadata: 8_331,
  freezeMetadata: { base: 0, each: 22_734 },
  transferErc721: 33_249,
  transferErc1155: 34_546,
  floor: { base: 21_000, zero: 10, other: 40 },
  transactionGas: MAX_TRANSACTION_GAS,
};

/** Bytes that a new slot counts as where the chain charges for the growth of its state (EIP-8037). */
const SLOT_BYTES = 64;

/**
 * The figures for a node that tells only what a new slot costs: those of Osaka, and the difference for each slot and each
 * byte that a call adds to the chain's state.
 */
export function measurementFromSlotPrice(newSlot: number): GasMeasurement {
  const more = Math.max(0, newSlot - OSAKA.newSlot);
  const linear = ({ base, each }: LinearGas, slots: number, slotsEach: number): LinearGas => ({
    base: base + Math.ceil(slots * more),
    each: each + Math.ceil(slotsEach * more),
  });
  return {
    ...OSAKA,
    newSlot: OSAKA.newSlot + more,
    // The new account counts as 120 bytes.
    createCollection: linear(OSAKA.createCollection, 2.5, 1.1 / SLOT_BYTES),
    firstMintErc721: OSAKA.firstMintErc721 + 3 * more,
    mintErc721: OSAKA.mintErc721 + 2 * more,
    createErc1155: linear(OSAKA.createErc1155, 2, 1),
    mintErc1155: OSAKA.mintErc1155 + more,
    freezeMetadata: linear(OSAKA.freezeMetadata, 1, 1),
    transferErc721: OSAKA.transferErc721 + more,
    transferErc1155: OSAKA.transferErc1155 + more,
  };
}

/** The figures until the chain was measured for the first time. */
export const UNMEASURED_GAS: GasMeasurement = measurementFromSlotPrice(OSAKA.newSlot);
