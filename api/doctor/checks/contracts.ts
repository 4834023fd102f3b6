import type { ContractAddresses } from "../../chain/contracts.ts";
import { contractsWithoutCode, readDeploymentLinks } from "../../chain/deployment-reads.ts";
import { type Check, type Finding, ok, problem, warning } from "../check.ts";

/** The service's contracts exist, belong together and point at this service. */
export const contracts: Check = {
  name: "contracts",
  asksChain: true,
  run: async ({ client, chain, hostedBase }) => {
    const known = chain.contracts;
    const missing = await contractsWithoutCode(client, known);
    if (missing.length > 0) {
      const list = missing.map((name) => `${name} ${known[name]}`).join(", ");
      return [
        problem(`There is no contract at: ${list}. Check that RPC_URL is a node of the right chain and is in sync.`),
      ];
    }
    const links = await readDeploymentLinks(client, known);
    return [
      checkRelay("factory", links.factoryRelay, known),
      checkRelay("delegate", links.delegateRelay, known),
      checkImplementation("ERC721", links.erc721Relay, known),
      checkImplementation("ERC1155", links.erc1155Relay, known),
      checkBase(links.hostedBase, hostedBase),
    ];
  },
};

function checkRelay(name: "factory" | "delegate", relay: string | null, known: ContractAddresses): Finding {
  if (relay === known.relay) return ok(`the ${name} ${known[name]} belongs to the relay ${known.relay}`);
  return problem(
    `The ${name} ${known[name]} does not belong to the relay ${known.relay}. Use the deployment file that belongs to ` +
      `this database.`,
  );
}

function checkImplementation(kind: string, relay: string | null, known: ContractAddresses): Finding {
  if (relay === known.relay) return ok(`the factory's ${kind} implementation belongs to the relay ${known.relay}`);
  return problem(
    `The ${kind} implementation of the factory ${known.factory} does not belong to the relay ${known.relay}. Use the ` +
      `deployment file that belongs to this database.`,
  );
}

function checkBase(base: string | null, expected: string): Finding {
  if (base === null) {
    return problem("The relay did not return the hosted base URI. Check that RPC_URL is a node that is in sync.");
  }
  if (base === expected) return ok(`hosted metadata is at ${base}`);
  return warning(
    `Hosted tokens point at ${base}, but PUBLIC_URL gives ${expected}. Correct PUBLIC_URL, or have the relay's owner call ` +
      `setHostedBaseURI on the relay.`,
  );
}
