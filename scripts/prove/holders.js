import { functionsOf, runtimeOf, topicOf } from "./bytecode.ts";
import { Explorer } from "./explore.ts";
import { NotSupported } from "./machine.ts";
import { stringRules } from "./strings.ts";
import { and, below, bitAnd, FALSE, fresh, implies, isConst, isTrue, ite, not, or, same, shiftLeft, shiftRight, TRUE, variable, word, ZERO, } from "./terms.ts";
/** The slot numbers of compact collections, as far as the theorems are about them. */
export const MAPPINGS = { holders: 19n, owners: 20n, plainOwners: 21n };
const STRINGS = { ownBaseURI: 11, ownContractURI: 12, frozenHostedURI: 13 };
export const HOLDERS_THEOREMS = {
    kept: "A holder's word that has an address never gets another address",
    taken: "A holder's word that is written has an address, and its key is neither 0 nor the value for plain tokens",
    named: "A token's lane that has a key has one whose word has an address",
    moved: "After Transfer events of a token, its owner is the receiver of the last one: its lane has a key whose word has the receiver's address, or the value for plain tokens with the receiver as plain owner, or 0 after a burn",
    others: "The lane and the plain owner of a token change only with a Transfer event of this token",
    storage: "No other write reaches the mappings of holders and owners",
    only: "No other code runs with the collection's storage",
};
/** The value of a lane for a token whose owner has no key. */
const PLAIN = word(0xffff_ffff);
const LANES = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n];
const ADDRESS = word((1n << 160n) - 1n);
// Any key and any token. They are the same in the whole proof, and nothing is known about them, so the theorems hold for
// each pair of them.
const key = variable("key");
const token = variable("token");
const isKey = and(not(same(key, ZERO)), below(key, PLAIN));
function addressIn(holder) {
    return bitAnd(holder, ADDRESS);
}
function laneOf(owners, shift) {
    return bitAnd(shiftRight(owners, shift), PLAIN);
}
function laneOfToken(owners) {
    return laneOf(owners, shiftLeft(bitAnd(token, word(7)), word(5)));
}
/** Storage at the start of a transaction, and after a call, where other calls of the collection may have changed it. */
function beginning() {
    const owners = fresh("owners");
    const plainOwner = fresh("plain_owner");
    return {
        /** The words of the key, of the eight tokens around the token, and of the token's plain owner. */
        holder: fresh("holder"),
        owners,
        plainOwner,
        ownersBefore: owners,
        plainOwnerBefore: plainOwner,
        /** Whether there was a Transfer event of the token, and the receiver of the last one. */
        isMoved: FALSE,
        receiver: ZERO,
    };
}
function ghost(state, name) {
    const term = state.ghosts[name];
    if (term === undefined)
        throw new Error(`no ghost ${name}`);
    return term;
}
/**
 * @param theorems the texts of those to prove.
 * @param only the functions to prove them for; all if there is no list.
 */
export async function proveHolders(contract, solver, theorems = Object.values(HOLDERS_THEOREMS), only) {
    const explorer = new Explorer(runtimeOf(contract), [], functionsOf(contract), { joins: true, only });
    const start = { ghosts: { ...beginning(), writes: ZERO }, storage: new Map() };
    return [await explorer.run(solver, rulesOf(explorer, contract), start, theorems)];
}
function rulesOf(explorer, contract) {
    const transfer = topicOf(contract, "Transfer");
    const claim = (state, theorem, conclusion) => {
        explorer.claim(state, HOLDERS_THEOREMS[theorem], conclusion);
    };
    const strings = stringRules(explorer, Object.values(STRINGS), (state, conclusion) => {
        claim(state, "storage", conclusion);
    });
    return {
        read: (state, slot) => readMapping(state, slot) ?? strings.read(state, slot),
        write: (state, slot, value) => {
            const { mapping, element } = elementOf(slot);
            if (mapping === MAPPINGS.holders)
                writeHolder(claim, state, element, value);
            else if (mapping === MAPPINGS.owners)
                writeOwners(claim, state, element, value);
            else if (mapping === MAPPINGS.plainOwners)
                writePlainOwner(state, element, value);
            else
                strings.write(state, slot, value);
        },
        // The collection has no transient storage.
        readTransient: () => fresh("transient"),
        writeTransient: () => undefined,
        call: (state, { kind }) => {
            if (kind === "STATICCALL")
                return;
            claim(state, "only", kind === "CALL" ? TRUE : FALSE);
            claimEnd(claim, state);
            state.ghosts = { ...state.ghosts, ...beginning() };
        },
        log: (state, [topic, , to, id]) => {
            if (topic === undefined || !isConst(topic))
                throw new NotSupported("an event that is not known");
            if (topic.value !== transfer || to === undefined || id === undefined)
                return;
            const isIt = same(id, token);
            state.ghosts["isMoved"] = or(ghost(state, "isMoved"), isIt);
            state.ghosts["receiver"] = ite(isIt, to, ghost(state, "receiver"));
        },
        end: (state) => {
            claimEnd(claim, state);
        },
    };
}
/** The mapping and the element of a slot, if it is one of a mapping with a fixed number. */
function elementOf({ op, name, args: [element = ZERO, mapping = ZERO] }) {
    const isElement = op === "apply" && name === "hash2" && isConst(mapping);
    return isElement ? { mapping: mapping.value, element } : { element };
}
function readMapping(state, slot) {
    const { mapping, element } = elementOf(slot);
    if (mapping === MAPPINGS.holders)
        return ite(same(element, key), ghost(state, "holder"), fresh("another_holder"));
    if (mapping === MAPPINGS.plainOwners)
        return ite(same(element, token), ghost(state, "plainOwner"), fresh("another"));
    if (mapping !== MAPPINGS.owners)
        return undefined;
    const owners = ite(same(element, shiftRight(token, word(3))), ghost(state, "owners"), fresh("other_owners"));
    // The theorem `named` for each lane of the word: it is proved for each write, and true where nothing was written.
    const lanes = LANES.map((lane) => laneOf(owners, word(lane * 32n)));
    state.conditions.push(implies(and(isKey, or(...lanes.map((lane) => same(lane, key)))), isTrue(addressIn(ghost(state, "holder")))));
    return owners;
}
function writeHolder(claim, state, element, value) {
    const isIt = same(element, key);
    const before = ghost(state, "holder");
    const hadAddress = isTrue(addressIn(before));
    claim(state, "kept", implies(and(isIt, hadAddress), same(addressIn(value), addressIn(before))));
    claim(state, "taken", implies(isIt, and(isKey, isTrue(addressIn(value)))));
    state.ghosts["holder"] = ite(isIt, value, before);
}
function writeOwners(claim, state, element, value) {
    const isIt = same(element, shiftRight(token, word(3)));
    const hasKey = and(isKey, same(laneOfToken(value), key));
    claim(state, "named", implies(and(isIt, hasKey), isTrue(addressIn(ghost(state, "holder")))));
    state.ghosts["owners"] = ite(isIt, value, ghost(state, "owners"));
}
function writePlainOwner(state, element, value) {
    state.ghosts["plainOwner"] = ite(same(element, token), value, ghost(state, "plainOwner"));
}
/** What must hold at the end of each transaction, and at each call of other code, which may call the collection again. */
function claimEnd(claim, state) {
    const isMoved = ghost(state, "isMoved");
    const lane = laneOfToken(ghost(state, "owners"));
    const plainOwner = addressIn(ghost(state, "plainOwner"));
    const receiver = ghost(state, "receiver");
    const isPlain = same(lane, PLAIN);
    const hasReceiver = ite(same(receiver, ZERO), same(lane, ZERO), ite(isPlain, same(plainOwner, receiver), and(isTrue(lane), implies(same(lane, key), same(addressIn(ghost(state, "holder")), receiver)))));
    claim(state, "moved", implies(isMoved, hasReceiver));
    const isSame = and(same(lane, laneOfToken(ghost(state, "ownersBefore"))), same(plainOwner, addressIn(ghost(state, "plainOwnerBefore"))));
    claim(state, "others", implies(not(isMoved), isSame));
}
