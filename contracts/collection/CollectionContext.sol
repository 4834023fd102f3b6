// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";

import {ICollection} from "../interfaces/ICollection.sol";
import {CloneArguments} from "../libraries/CloneArguments.sol";

/// @title CollectionContext
/// @notice Where a clone finds what never changes: relay and factory in the shared code, the rest in its own arguments.
abstract contract CollectionContext is ICollection {
    using CloneArguments for CloneArguments.Head;

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
        return _head().hosted;
    }

    /// @dev What the clone was made with, from the end of its code. Enough for everything but the strings.
    function _head() internal view returns (CloneArguments.Head memory) {
        return CloneArguments.decode(_packedArguments());
    }

    /// @dev What the strings are taken from.
    function _packedArguments() internal view returns (bytes memory) {
        return Clones.fetchCloneArgs(address(this));
    }

    function _nameArgument() internal view returns (string memory) {
        bytes memory packed = _packedArguments();
        return CloneArguments.decode(packed).name(packed);
    }

    function _symbolArgument() internal view returns (string memory) {
        bytes memory packed = _packedArguments();
        return CloneArguments.decode(packed).symbol(packed);
    }

    /// @dev Reverts unless the relay calls.
    function _checkRelay() internal view {
        if (msg.sender != relay) revert CollectionUnauthorizedRelay(msg.sender);
    }
}
