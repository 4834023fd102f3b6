// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1155Receiver} from "@openzeppelin/contracts/token/ERC1155/IERC1155Receiver.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";

/// @title ProgrammableReceiver
/// @notice A receiver that reacts to an arriving token in the way that a test has chosen.
contract ProgrammableReceiver {
    enum Mode {
        Accept,
        LieAboutMagic,
        RevertWithReason,
        RevertEmpty,
        RevertWithMegabyte,
        ReturnMegabyte,
        BurnAllGas,
        CallAndAccept,
        AcceptSimulated,
        UseTwoMillionGas,
        AnswerNothing,
        AnswerNothingOnChain
    }

    error Refused(address operator, address from);

    event HookCall(bool success, bytes result);

    Mode private _mode;
    address private _target;
    bytes private _data;

    function program(Mode mode) external {
        _mode = mode;
    }

    /// @notice From now on, each arriving token first makes this call. The receiver then emits the result and accepts.
    function programCall(address target, bytes calldata data) external {
        (_mode, _target, _data) = (Mode.CallAndAccept, target, data);
    }

    /// @notice Makes a call from this contract immediately.
    function call(address target, bytes calldata data) external returns (bytes memory result) {
        bool success;
        (success, result) = target.call(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(result, 0x20), mload(result))
            }
        }
    }

    function onERC721Received(address operator, address from, uint256, bytes calldata) external returns (bytes4) {
        return _arrive(operator, from, IERC721Receiver.onERC721Received.selector);
    }

    function onERC1155Received(
        address operator,
        address from,
        uint256,
        uint256,
        bytes calldata
    ) external returns (bytes4) {
        return _arrive(operator, from, IERC1155Receiver.onERC1155Received.selector);
    }

    function onERC1155BatchReceived(
        address operator,
        address from,
        uint256[] calldata,
        uint256[] calldata,
        bytes calldata
    ) external returns (bytes4) {
        return _arrive(operator, from, IERC1155Receiver.onERC1155BatchReceived.selector);
    }

    function supportsInterface(bytes4) external pure returns (bool) {
        return true;
    }

    function _arrive(address operator, address from, bytes4 magic) private returns (bytes4) {
        Mode mode = _mode;
        if (mode == Mode.LieAboutMagic) return 0xdeadbeef;
        if (mode == Mode.RevertWithReason) revert Refused(operator, from);
        if (mode == Mode.CallAndAccept) {
            (bool success, bytes memory result) = _target.call(_data);
            emit HookCall(success, result);
        }
        // In a simulation by the service, the relay is the origin, which has code. In a test's transaction it has none.
        // solhint-disable-next-line avoid-tx-origin
        if (mode == Mode.AcceptSimulated && tx.origin.code.length == 0) revert Refused(operator, from);
        if (mode == Mode.UseTwoMillionGas) {
            uint256 end = gasleft() - 2_000_000;
            uint256 rounds;
            while (gasleft() > end) ++rounds;
        }
        // solhint-disable-next-line avoid-tx-origin
        if (mode == Mode.AnswerNothingOnChain && tx.origin.code.length == 0) mode = Mode.AnswerNothing;
        assembly ("memory-safe") {
            switch mode
            case 3 {
                revert(0, 0)
            }
            case 4 {
                revert(0, 1048576)
            }
            case 5 {
                mstore(0, magic)
                return(0, 1048576)
            }
            case 6 {
                invalid()
            }
            case 10 {
                return(0, 0)
            }
        }
        return magic;
    }
}
