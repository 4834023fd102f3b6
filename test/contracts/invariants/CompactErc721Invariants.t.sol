// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {WeakHashCollection} from "../../../contracts/mocks/WeakHashCollection.sol";
import {Erc721Handler} from "./Erc721Handler.sol";
import {Erc721Invariants} from "./Erc721Invariants.t.sol";

/// @title CompactErc721Handler
/// @notice The same calls to a collection with compact storage and few keys.
contract CompactErc721Handler is Erc721Handler {
    function _newErc721(address relay) internal override returns (address) {
        return address(new WeakHashCollection(relay));
    }
}

/// @title CompactErc721Invariants
/// @notice The same rules for a collection with compact storage. Few keys, so that most holders have none.
contract CompactErc721Invariants is Erc721Invariants {
    function _newHandler() internal override returns (Erc721Handler) {
        return new CompactErc721Handler();
    }
}
