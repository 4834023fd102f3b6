import { readTokenUris } from "../chain/token-uris.ts";
import { RESCUE_CALL_GAS } from "../config/limits.ts";
import { publicBase, tokenFile } from "../domain/metadata-files.ts";
import { plural } from "../shared/text.ts";
import { adoptedCollections, tokensAfter } from "../store/requests/rescued-tokens.ts";
import { type Check, type Finding, ok, problem, some, warning } from "./check.ts";

/** Collections that are checked, without `--all` and with it, and tokens of each. */
const [SOME, ALL, SAMPLE] = [20, 1_000, 5];
/** Milliseconds for the calls of one contract. */
const CALLS_TIME = 20_000;

/** What adopted contracts say of where the metadata of their first tokens are, and whether the service has them. */
export const rescued: Check = {
  name: "rescued",
  asksChain: true,
  run: async ({ database, client, chain, hostedBase, thorough }) => {
    const collections = await adoptedCollections(database.read, thorough ? ALL : SOME);
    const findings: Finding[] = [];
    for (const { address, type, name } of collections) {
      const tokens = await tokensAfter(database.read, address, 0, SAMPLE);
      const ids = tokens.map(({ token_id: id }) => id);
      const bounds = { gas: RESCUE_CALL_GAS, abort: AbortSignal.timeout(CALLS_TIME) };
      const said = await readTokenUris(client, { address, type }, ids, bounds);
      const base = publicBase(`${hostedBase}${chain.chainId}/`, address, type);
      const isHere = ids.map((id, index) => {
        const [answer, file] = [said[index], tokenFile(type, id)];
        return (
          typeof answer === "object" && answer.uri === (type === "ERC721" ? base + file : base.replace("{id}", file))
        );
      });
      const lost = ids.filter((_, index) => isHere[index] === true && tokens[index]?.metadata === null);
      const elsewhere = ids.filter((_, index) => isHere[index] !== true && tokens[index]?.metadata !== null);
      const where = `${name === "" ? "" : `${JSON.stringify(name)} `}${address} says that the metadata of`;
      if (lost.length > 0)
        findings.push(
          problem(`${where} token ${some(lost)} are here, but they are not. Run \`collection rescue ${address}\`.`),
        );
      else if (elsewhere.length > 0)
        findings.push(
          warning(
            `${where} token ${some(elsewhere)} are elsewhere. To use the copy, its owner sets the base URI ${base}`,
          ),
        );
      else if (isHere.includes(true)) findings.push(ok(`${where} its tokens are here, and they are`));
    }
    return findings.length > 0
      ? findings
      : [ok(`${plural(collections.length, "adopted collection")}, none with metadata here`)];
  },
};
