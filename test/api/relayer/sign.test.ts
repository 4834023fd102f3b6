import { expect } from "chai";
import { SigningKey, toBeHex, Transaction, ZeroAddress } from "ethers";

import { signTransaction } from "../../../api/chain/transaction.ts";
import { MAX_TRANSACTION_GAS } from "../../../api/domain/gas-estimate.ts";
import { signEmpty, signReplacement } from "../../../api/relayer/sign.ts";
import type { SignedAttempt } from "../../../api/store/sending/batches.ts";

describe("signing for a lane", () => {
  const key = new SigningKey(toBeHex(1n, 32));
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const most = BigInt(MAX_TRANSACTION_GAS);
  const transaction = { chainId: 1n, nonce: 3, to: ZeroAddress, data: "0x1234", ...fees, authorizations: [] };
  const batch = (gasLimit: bigint) => ({ ...signTransaction(key, { ...transaction, gasLimit }), ...fees, gasLimit });
  const { raw } = batch(100_000n);

  const signers: Record<string, (gasLimit: bigint) => SignedAttempt> = {
    "a batch": batch,
    "a replacement": (gasLimit) => signReplacement(key, raw, fees, gasLimit),
    "an empty transaction": (gasLimit) => signEmpty(key, ZeroAddress, raw, fees, Number(gasLimit)),
  };
  for (const [what, sign] of Object.entries(signers)) {
    it(`signs ${what} with the highest gas limit that a transaction can have, and refuses to sign more`, () => {
      const { gasLimit, nonce } = Transaction.from(sign(most).raw);
      expect([gasLimit, nonce]).to.deep.equal([most, 3]);
      expect(() => sign(most + 1n)).to.throw(RangeError, "a transaction can have 16777216 gas, not 16777217");
    });
  }
});
