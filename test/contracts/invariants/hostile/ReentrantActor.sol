// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";

import {Watch} from "./Watch.sol";

/// @title ReentrantActor
/// @notice A holder with code. When a token arrives, it makes the next call of its plan before it accepts.
contract ReentrantActor {
    struct Step {
        address target;
        bytes data;
    }

    Watch private immutable _WATCH;

    Step[] private _plan;

    constructor(Watch watch) {
        _WATCH = watch;
    }

    /// @notice Adds a call for the next token that arrives.
    function plan(address target, bytes calldata data) external {
        _plan.push(Step(target, data));
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        _react();
        return IERC721Receiver.onERC721Received.selector;
    }

    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external returns (bytes4) {
        _react();
        return IERC1155Receiver.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(
        address,
        address,
        uint256[] calldata,
        uint256[] calldata,
        bytes calldata
    ) external returns (bytes4) {
        _react();
        return IERC1155Receiver.onERC1155BatchReceived.selector;
    }

    function supportsInterface(bytes4) external pure returns (bool) {
        return true;
    }

    /// @notice Makes a call now.
    function act(address target, bytes memory data) public {
        // What a batch does, it does in the relay's name.
        _WATCH.start(target == _WATCH.RELAY_ADDRESS() ? target : address(this));
        // The call may fail: most of them are not allowed.
        // solhint-disable-next-line avoid-low-level-calls
        (bool success, ) = target.call(data);
        success;
        _WATCH.finish();
    }

    function _react() private {
        if (_plan.length == 0) return;
        Step memory step = _plan[_plan.length - 1];
        _plan.pop();
        act(step.target, step.data);
    }
}
