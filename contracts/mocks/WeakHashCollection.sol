// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CompactERC721Collection} from "../CompactERC721Collection.sol";

/// @title WeakHashCollection
/// @notice A compact collection whose hash of a holder has 4 bits in each piece, so there are only 16 keys. What an
/// attacker must arrange in an ordinary collection happens here all the time.
contract WeakHashCollection is CompactERC721Collection {
    constructor(address relay_) CompactERC721Collection(relay_) {}

    function _hashOf(address holder) internal view override returns (uint256) {
        return super._hashOf(holder) & 0x000000000000000f000000000000000f000000000000000f000000000000000f;
    }
}
