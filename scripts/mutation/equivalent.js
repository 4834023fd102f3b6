/**
 * Mutants that no test can notice, because the contracts then do the same. They do not count. The gas tests, which a run
 * leaves out, notice those that cost gas.
 */
const EQUIVALENT = [
    {
        file: "contracts/collection/CollectionOwnership.sol",
        original: "_offeredBy == owner() && _offeredAt == _epoch()",
        replacement: "_offeredAt == _epoch()",
        because: "the owner changes only with the epoch, or by a move, which deletes the offer",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "state = state.withCap(cap);",
        replacement: "{}",
        because: "the stored maximum is a copy that saves gas",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "head.soulbound && _loweredMaxSupply != 0",
        replacement: "_loweredMaxSupply != 0",
        because: "it is stored only if the collection is soulbound; the condition saves gas",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "to.code.length != 0",
        replacement: "true",
        because: "the called library looks at the code itself; the condition saves gas",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "auth == address(0) && !emitEvent && !_state.approvalsUsed()",
        replacement: "false",
        because: "without an approval there is nothing to clear; the condition saves gas",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "!emitEvent",
        replacement: "emitEvent",
        because: "nobody clears an approval with an event and without an account; the condition saves gas",
    },
    {
        file: "contracts/ERC721Collection.sol",
        original: "state.minted() >= state.cap()",
        replacement: "true",
        because: "the maximum is then read and stored again for each mint, which costs gas",
    },
    {
        file: "contracts/CompactERC721Collection.sol",
        original: "from != address(0)",
        replacement: "true",
        because: "a token that does not exist has no approval; the condition saves gas",
    },
    {
        file: "contracts/Relay.sol",
        original: "number >> 8 != bucket",
        replacement: "true",
        because: "the word is then written and read again for each number, which costs gas",
    },
    {
        file: "contracts/Relay.sol",
        original: "300_000",
        replacement: "300001",
        because: "the reserve is generous: no call needs an exact value",
    },
];
/** Why no test can notice a mutant; null: a test should. */
export function whyEquivalent(mutant) {
    const found = EQUIVALENT.find(({ file, original, replacement }) => file === mutant.file && original === mutant.original && replacement === mutant.replacement);
    return found?.because ?? null;
}
