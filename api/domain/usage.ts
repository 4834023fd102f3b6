/** What is counted for each app and day (UTC). */
export interface Usage {
  accepted: number;
  completed: number;
  failed: number;
  gas: number;
  feeWei: bigint;
  mediaBytes: number;
  wallets: number;
}

/** The totals of one app on one day. @property day days since 1970. */
export interface DayUsage extends Usage {
  day: number;
}

/** As answers show it. */
export function describeUsage(usage: Usage) {
  return {
    requests_accepted: usage.accepted,
    requests_completed: usage.completed,
    requests_failed: usage.failed,
    gas_used: usage.gas,
    fee_wei: usage.feeWei.toString(),
    media_bytes: usage.mediaBytes,
    wallets_created: usage.wallets,
  };
}

const NO_USAGE: Usage = {
  accepted: 0,
  completed: 0,
  failed: 0,
  gas: 0,
  feeWei: 0n,
  mediaBytes: 0,
  wallets: 0,
};

export function sumUsage(parts: readonly Usage[]): Usage {
  return parts.reduce(
    (sum, part) => ({
      accepted: sum.accepted + part.accepted,
      completed: sum.completed + part.completed,
      failed: sum.failed + part.failed,
      gas: sum.gas + part.gas,
      feeWei: sum.feeWei + part.feeWei,
      mediaBytes: sum.mediaBytes + part.mediaBytes,
      wallets: sum.wallets + part.wallets,
    }),
    NO_USAGE,
  );
}
