// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Bytes} from "@openzeppelin/contracts/utils/Bytes.sol";

/// @title CloneArguments
/// @notice The immutable arguments of a collection, packed: every byte costs 200 gas at creation, so what is absent takes none.
/// @dev In this order: 1 byte of flags; [owner: 20 bytes]; [royalty: 2 bytes of basis points, 20 of recipient]; [cap: 8 bytes];
/// the lengths of name and symbol, and of the base URI unless hosted: 2 bytes each; name, symbol, and unless hosted base URI
/// and collection URI. The last string takes what is left.
library CloneArguments {
    using Bytes for bytes;

    /// @param hosted Whether the URIs come from the service. Then both URIs here are empty.
    /// @param owner The first owner; zero for the relay's owner.
    /// @param royaltyRecipient Who gets the royalty; zero if there is none.
    /// @param royaltyBasisPoints The royalty in 1/10,000 of the price.
    /// @param maxSupply The cap of an ERC721 collection; the largest value if there is none.
    struct Arguments {
        bool hosted;
        address owner;
        address royaltyRecipient;
        uint16 royaltyBasisPoints;
        uint64 maxSupply;
        string name;
        string symbol;
        string baseURI;
        string contractURI;
    }

    uint8 internal constant FLAG_HOSTED = 1;
    uint8 internal constant FLAG_OWNER = 2;
    uint8 internal constant FLAG_ROYALTY = 4;
    uint8 internal constant FLAG_MAX_SUPPLY = 8;

    /// @dev The cap of a collection without one.
    uint64 internal constant UNLIMITED = type(uint64).max;

    /// @notice Thrown when the arguments end before everything that they announce.
    error CloneArgumentsTruncated(uint256 length, uint256 needed);

    /// @notice Unpacks the arguments.
    function decode(bytes memory packed) internal pure returns (Arguments memory args) {
        uint256 cursor = 1;
        uint8 flags = uint8(bytes1(packed.slice(0, 1)));
        args.hosted = flags & FLAG_HOSTED != 0;
        if (flags & FLAG_OWNER != 0) {
            args.owner = address(bytes20(packed.slice(cursor, cursor + 20)));
            cursor += 20;
        }
        if (flags & FLAG_ROYALTY != 0) {
            args.royaltyBasisPoints = uint16(bytes2(packed.slice(cursor, cursor + 2)));
            args.royaltyRecipient = address(bytes20(packed.slice(cursor + 2, cursor + 22)));
            cursor += 22;
        }
        args.maxSupply = UNLIMITED;
        if (flags & FLAG_MAX_SUPPLY != 0) {
            args.maxSupply = uint64(bytes8(packed.slice(cursor, cursor + 8)));
            cursor += 8;
        }

        uint256 nameEnd = cursor + (args.hosted ? 4 : 6) + uint16(bytes2(packed.slice(cursor, cursor + 2)));
        uint256 symbolEnd = nameEnd + uint16(bytes2(packed.slice(cursor + 2, cursor + 4)));
        uint256 baseEnd = symbolEnd;
        if (!args.hosted) baseEnd += uint16(bytes2(packed.slice(cursor + 4, cursor + 6)));
        if (packed.length < baseEnd) revert CloneArgumentsTruncated(packed.length, baseEnd);

        args.name = string(packed.slice(cursor + (args.hosted ? 4 : 6), nameEnd));
        args.symbol = string(packed.slice(nameEnd, symbolEnd));
        args.baseURI = string(packed.slice(symbolEnd, baseEnd));
        args.contractURI = string(packed.slice(baseEnd, packed.length));
    }
}
