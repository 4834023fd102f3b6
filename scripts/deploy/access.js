import { sentenceOf } from "../../api/cli/sentence.ts";
import { rpcVariable } from "../../api/config/networks.ts";
import { explainingChain } from "../../api/operate/deploy/transactions.ts";
import { OperatorError } from "../../api/operate/operator-error.ts";
const KEY = "DEPLOYER_PRIVATE_KEY";
/** The number of Hardhat's error for a variable that neither the environment nor the keystore has. */
const NOT_FOUND = 7;
/**
 * Checks the node's URL and the deployer's key before Hardhat uses them.
 * @param listed whether `RPC_URLS` names the nodes, in place of the network's own variable.
 * @throws OperatorError with the line to add
 */
export async function requireAccess({ config, globalOptions }, listed = false) {
    const name = globalOptions.network;
    const network = config.networks[name];
    if (network?.type !== "http")
        return;
    if (!listed && !(await isSet(network.url)))
        throw new OperatorError(`The URL of a node of ${name} is missing. Add this line to your shell: export ${rpcVariable(name)}=https://…`);
    if (!Array.isArray(network.accounts))
        return;
    for (const account of network.accounts) {
        if (!(await isSet(account)))
            throw new OperatorError(`The private key of the account that pays for the deployment is missing. Store it with \`npx hardhat keystore set ${KEY}\`, ` +
                `or add this line to your shell: export ${KEY}=0x…`);
        if (!/^(0x)?[0-9a-f]{64}$/i.test(await account.get()))
            throw new OperatorError(`${KEY} is not a private key: it must be 0x and 64 hexadecimal digits.`);
    }
}
/** Runs a task of Hardhat. What the operator can correct is printed as a sentence. Anything else keeps its stack trace. */
export async function runTask(steps) {
    try {
        await explainingChain(steps);
    }
    catch (error) {
        const sentence = sentenceOf(error);
        if (sentence === null)
            throw error;
        console.error(sentence);
        process.exitCode = 1;
    }
}
async function isSet(variable) {
    try {
        return (await variable.get()) !== "";
    }
    catch (error) {
        if (error.number === NOT_FOUND)
            return false;
        throw error;
    }
}
