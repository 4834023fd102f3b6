// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

import {ICollection} from "../interfaces/ICollection.sol";
import {CloneArguments} from "../libraries/CloneArguments.sol";

/// @title CollectionContext
/// @notice Where a clone finds what never changes: relay and factory in the shared code, the rest in its own arguments.
abstract contract CollectionContext is ICollection {
    /// @inheritdoc ICollection
    address public immutable relay;

    /// @inheritdoc ICollection
    address public immutable factory;

    /// @dev The factory deploys the implementations itself.
    constructor(address relay_) {
        relay = relay_;
        factory = msg.sender;
    }

    /// @inheritdoc ICollection
    function hosted() external view returns (bool) {
        return _arguments().hosted;
    }

    /// @dev Reads the clone's arguments from the end of its code.
    function _arguments() internal view returns (CloneArguments.Arguments memory) {
        return CloneArguments.decode(Clones.fetchCloneArgs(address(this)));
    }

    /// @dev Reverts unless the relay calls.
    function _checkRelay() internal view {
        if (msg.sender != relay) revert CollectionUnauthorizedRelay(msg.sender);
    }
}
