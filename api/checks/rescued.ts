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
      const bounds = { gas: RESCUE_CALL_GAS, abort: AbortSignal.timeout(CALLS_TIME) };
      const said = await readTokenUris(
        client,
        { address, type },
        tokens.map((token) => token.token_id),
        bounds,
      );
      const base = publicBase(`${hostedBase}${chain.chainId}/`, address, type);
      const found = tokens.map(({ token_id: id, metadata }, index) => {
        const [answer = "unknown", uri] = [said[index], base.replace("{id}", "") + tokenFile(type, id)];
        const names = typeof answer === "object" ? answer.uri === uri : answer === "unknown" ? null : false;
        return { id, names, isHere: metadata !== null };
      });
      const lost = found.flatMap(({ id, names, isHere }) => (names === true && !isHere ? [id] : []));
      const elsewhere = found.flatMap(({ id, names, isHere }) => (names === false && isHere ? [id] : []));
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
      else if (found.some(({ names }) => names === true))
        findings.push(ok(`${where} its tokens are here, and they are`));
    }
    return findings.length > 0
      ? findings
      : [ok(`${plural(collections.length, "adopted collection")}, none with metadata here`)];
  },
};
