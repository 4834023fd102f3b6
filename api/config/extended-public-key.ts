import { HDNodeVoidWallet, HDNodeWallet } from "ethers";
import { z } from "zod";

/** Said wherever XPUB is shown or asked for: from a private key that is not hardened and this key, the parent private key follows (BIP-32). */
export const XPUB_IS_PRIVATE =
  "Keep XPUB private: together with the private key of any one wallet it gives away all wallets.";

/** Steps of `m/44'/60'/0'`, the root of the wallets, and the number of its last step. */
const DEPTH = 3;
const LAST_STEP = 0x8000_0000;
const ADVICE = `set it to what \`npm run cli -- keys check\` prints where the seed is. ${XPUB_IS_PRIVATE}`;

/** The extended public key of the wallets' root (BIP-32). Its error messages never contain the value. */
export const extendedPublicKey = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  if (/^[a-z]prv/i.test(text)) {
    return refuse(
      `must not be an extended private key: it signs for every wallet. Remove it from the settings and ${ADVICE}`,
    );
  }
  const node = parse(text);
  // ethers does not compare the checksum.
  if (!(node instanceof HDNodeVoidWallet) || node.extendedKey !== text)
    return refuse(`must be an extended public key (xpub...): ${ADVICE}`);
  if (node.depth !== DEPTH || node.index !== LAST_STEP)
    return refuse(`is the extended public key of another derivation path than m/44'/60'/0': ${ADVICE}`);
  return text;
});

function parse(text: string): HDNodeWallet | HDNodeVoidWallet | null {
  try {
    return text.startsWith("xpub") ? HDNodeWallet.fromExtendedKey(text) : null;
  } catch {
    // Not base58, another length, or no point of the curve.
    return null;
  }
}
